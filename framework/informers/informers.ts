import { Backoff } from '../async/backoff.ts'
import type { Backend, ResourceRef } from '../contract/backend.ts'
import type { Informer, Informers } from '../contract/informer.ts'
import type { Item } from '../contract/item.ts'
import type { Logger } from '../contract/log.ts'
import { loopbackContext } from '../contract/loopback.ts'
import { hasCode, isNotFound, isVersionTooLarge } from '../meta/statuschecks.ts'
import { createLocalCopy, type LocalCopy } from './localcopy.ts'

/** Informers over one backend. They retry after all failures and stop when `signal` aborts. */
export function createInformers(
  backend: Pick<Backend, 'storage'>,
  log: Logger,
  signal: AbortSignal,
): Informers {
  const informers = new Map<string, Informer>()
  return {
    for: resource => {
      const key = keyOf(resource)
      const known = informers.get(key)
      if (known !== undefined) return known
      const informer = startInformer({ backend, resource, log: log.child({ informer: key }), signal })
      informers.set(key, informer)
      return informer
    },
  }
}

const keyOf = ({ group, version, resource, identity = '' }: ResourceRef): string =>
  `${group}/${version}/${resource}:${identity}`

interface Source {
  readonly backend: Pick<Backend, 'storage'>
  readonly resource: ResourceRef
  readonly log: Logger
  readonly signal: AbortSignal
}

function startInformer(source: Source): Informer {
  const copy = createLocalCopy(error => source.log.error({ error: String(error) }, 'event handler failed'))
  let isSynced: () => void = () => undefined
  const synced = new Promise<void>(resolve => {
    isSynced = resolve
  })
  void keepUp(source, copy, isSynced)
  return { ...copy, synced }
}

/** Milliseconds. */
const pauses = { first: 100, longest: 30_000 }
/** After a 404: no event reports that the definition of the kind was created. */
const pausesUntilServed = { first: 100, longest: 2_000 }

/**
 * Lists and watches; continues the watch after its last event, and lists again if that revision has expired, the
 * server does not have it, or has sent nothing for long.
 */
async function keepUp(source: Source, copy: LocalCopy, isSynced: () => void): Promise<void> {
  const { log, signal } = source
  let position: string | undefined
  const [backoff, untilServed] = [new Backoff(pauses), new Backoff(pausesUntilServed)]
  while (!signal.aborted) {
    let isServed = true
    try {
      position ??= await refill(source, copy)
      isSynced()
      for await (const moved of follow(source, copy, position)) {
        position = moved
        backoff.reset()
        untilServed.reset()
      }
    } catch (error) {
      isServed = !isNotFound(error)
      // A server that has not reached the revision may have lost what came before it.
      const isExpired = hasCode(error, 410) || isVersionTooLarge(error)
      // One that was emptied sends nothing, not even bookmarks, until it has reached the revision again.
      if (!isServed || isExpired || hasCode(error, 504)) position = undefined
      if (!isExpired && !signal.aborted) log.warn({ error: String(error) }, 'informer failed, retrying')
    }
    // Also after a watch that ended without an error: the backend may end all of them at once.
    await (isServed ? backoff : untilServed).pause(signal)
  }
}

/** Lists all objects; returns the revision to watch from. */
async function refill({ backend, resource, log, signal }: Source, copy: LocalCopy): Promise<string> {
  const ctx = loopbackContext({ verb: 'list', resource, cluster: '*', signal, log })
  const list = backend.storage(resource).list(ctx, { cluster: '*' })
  const items: Item[] = []
  for (;;) {
    const next = await list.next()
    if (next.done) {
      copy.replace(items)
      return next.value.resourceVersion
    }
    items.push(...next.value)
  }
}

/** Applies events and yields the revision after each batch. */
async function* follow(
  { backend, resource, log, signal }: Source,
  copy: LocalCopy,
  resourceVersion: string,
): AsyncGenerator<string> {
  const ctx = loopbackContext({ verb: 'watch', resource, cluster: '*', signal, log })
  const query = { cluster: '*', resourceVersion, initialEvents: false, bookmarks: true } as const
  for await (const events of backend.storage(resource).watch(ctx, query)) {
    for (const event of events) copy.apply(event)
    const last = events.at(-1)
    if (last !== undefined) yield last.item.meta.resourceVersion
  }
}
