import type { ApiResource, ApiSet } from '../contract/apis.ts'
import type { Backend } from '../contract/backend.ts'
import type { IndexFn, Informer, Informers } from '../contract/informer.ts'
import type { ItemEvent } from '../contract/item.ts'
import type { ResourceStorage } from '../contract/storage.ts'
import type { Culprit, MemberReports } from '../contract/viewfailure.ts'
import type { Host } from '../contract/workspace.ts'
import { privateEvent, privateItem, privateStorage } from '../lens/privatestorage.ts'

/** The host of a plugin: what it gets are copies, and its handlers cannot stop the informers that other views share. `until`
 * aborts when the view is replaced: its handlers are removed then. */
export function privateHost(host: Host, reports: MemberReports, until?: AbortSignal): Host {
  const { backend, informers, log, shared, outbound } = host
  return {
    backend: privateBackend(backend),
    informers: privateInformers(informers, reports, until),
    log,
    ...(shared && { shared }),
    ...(outbound && { outbound }),
  }
}

function privateBackend(backend: Backend): Backend {
  const storageOf = kept((storage: ResourceStorage) => privateStorage(storage))
  const resourceOf = kept(
    (resource: ApiResource): ApiResource => ({
      ...resource,
      storage: storageOf(resource.storage),
      subresources: resource.subresources.map(each => ({ ...each, storage: storageOf(each.storage) })),
    }),
  )
  const own = (found: ApiResource | undefined): ApiResource | undefined => found && resourceOf(found)
  const apisOf = kept((set: ApiSet): ApiSet => {
    const { findMetadata } = set
    return {
      get resources() {
        return set.resources.map(resourceOf)
      },
      find: (...wanted) => own(set.find(...wanted)),
      ...(findMetadata && { findMetadata: (...wanted) => own(findMetadata.apply(set, wanted)) }),
      ...(set.unaggregated && { unaggregated: true }),
      ...(set.isPartial && { isPartial: true }),
      ...(set.replaced && { replaced: set.replaced }),
    }
  })
  const { place, refusal, refusalToAll } = backend
  return {
    authorizer: backend.authorizer,
    storage: ref => storageOf(backend.storage(ref)),
    apis: cluster => {
      const set = backend.apis(cluster)
      return set && apisOf(set)
    },
    resolve: path => backend.resolve(path),
    ...(place && { place: path => place.call(backend, path) }),
    ...(refusal && { refusal: (...asked) => refusal.apply(backend, asked) }),
    ...(refusalToAll && { refusalToAll: (...asked) => refusalToAll.apply(backend, asked) }),
    forward: (ctx, request) => backend.forward(ctx, request),
  }
}

/** The same result for the same argument. */
function kept<T extends object, R>(make: (value: T) => R): (value: T) => R {
  const known = new WeakMap<T, { readonly made: R }>()
  return value => {
    const found = known.get(value) ?? { made: make(value) }
    known.set(value, found)
    return found.made
  }
}

const privateInformers = (
  informers: Informers,
  reports: MemberReports,
  until: AbortSignal | undefined,
): Informers => {
  const of = kept((informer: Informer) => privateInformer(informer, reports, until))
  return { for: resource => of(informers.for(resource)) }
}

function privateInformer(
  informer: Informer,
  reports: MemberReports,
  until: AbortSignal | undefined,
): Informer {
  const safely = <T>(member: string, run: () => T, otherwise: T): T => {
    try {
      return run()
    } catch (error) {
      reports.failed({ member, problem: 'threw an error', error })
      return otherwise
    }
  }
  const indexOf = kept((fn: IndexFn) => {
    const index: IndexFn = item => safely('the index of an informer', () => fn(privateItem(item)), [])
    const find = informer.index(index)
    return (key: string) => find(key).map(privateItem)
  })
  return {
    get: (...key) => {
      const item = informer.get(...key)
      return item && privateItem(item)
    },
    list: cluster => informer.list(cluster).map(privateItem),
    index: fn => indexOf(fn),
    onEvent: handler => {
      const stop = informer.onEvent((event: ItemEvent) => {
        const handled: unknown = safely(
          'the handler of an informer',
          () => handler(privateEvent(event)),
          undefined,
        )
        reportRejection(handled, handler as Culprit, reports)
      })
      until?.addEventListener('abort', stop, { once: true })
      return stop
    },
    synced: informer.synced,
  }
}

/** An async handler may reject. */
function reportRejection(result: unknown, culprit: Culprit, reports: MemberReports): void {
  if (!(result instanceof Promise)) return
  const member = 'the handler of an informer'
  result.catch(error => reports.failed({ member, problem: 'threw an error', error, culprit }))
}
