import { inTurns, Pace } from '../framework/async/awaitable.ts'
import type { RequestContext } from '../framework/contract/context.ts'
import type { Item } from '../framework/contract/item.ts'
import type {
  Change,
  Check,
  DeleteOptions,
  Deletion,
  ResourceStorage,
} from '../framework/contract/storage.ts'
import type { KubeObject, ObjectKey } from '../framework/meta/object.ts'
import { encodeObjectSteps } from '../framework/wire/encodesteps.ts'
import { targetOf } from './connection/target.ts'
import { createApplied, sendPatch } from './patching.ts'
import { decodedItem } from './reading/item.ts'
import { itemFor, queryOf } from './reading/kinds.ts'
import type { Source } from './reading/source.ts'
import type { WriteRetries } from './writeretries.ts'

const headers = { 'content-type': 'application/json' }

export const get =
  (source: Source): ResourceStorage['get'] =>
  (ctx, key) =>
    itemFor(source, ctx, key, { method: 'GET', target: targetOf(source.ref, key) })

/** The name of a new object is in the body; a subresource has the object's name in its path. */
export const create =
  (source: Source): ResourceStorage['create'] =>
  async (ctx, key, object, options) => {
    const applied = await createApplied(source, ctx, { key, options })
    if (applied !== undefined) return applied
    const place = source.ref.subresource ? key : { cluster: key.cluster, namespace: key.namespace }
    const target = targetOf(source.ref, place, queryOf(options))
    return itemFor(source, ctx, key, { method: 'POST', target, headers, body: await encoded(object) })
  }

/** Replaces the state that `change` was given. The first attempt uses the object of a copy, which saves a GET. */
export const update =
  (
    source: Source,
    retries: WriteRetries,
    copied: (key: ObjectKey) => Item | undefined = () => undefined,
  ): ResourceStorage['update'] =>
  (ctx, key, change, options) => {
    let isLocked = false
    let copy = copied(key)
    const attempt = async (): Promise<Item> => {
      const guessed = copy && (await changedCopy(copy, change))
      copy = undefined
      const { current, next } = guessed ?? (await changed(await newest(source, ctx, key), change))
      isLocked = guessed === undefined && next.metadata.resourceVersion !== undefined
      const { resourceVersion } = current.meta
      const patched = sendPatch(source, ctx, { key, options, ...(isLocked ? {} : { resourceVersion }) })
      if (patched !== undefined) return patched
      const target = targetOf(source.ref, key, queryOf(options))
      const body = await encoded(at(resourceVersion, next))
      return itemFor(source, ctx, key, { method: 'PUT', target, headers, body })
    }
    return retries.run({ key, attempt, mayRetry: () => !isLocked })
  }

/** The object of the shard, for code that reads all of it. */
const newest = async (source: Source, ctx: RequestContext, key: ObjectKey): Promise<Item> =>
  decodedItem(await get(source)(ctx, key))

/** A changed object, and the state that it was made from. */
interface Changed {
  readonly current: Item
  readonly next: KubeObject
}

const changed = async (current: Item, change: Change): Promise<Changed> => ({
  current,
  next: await change(current),
})

/** undefined when the copy has another resourceVersion than the client, or `change` throws: the copy may be stale. */
async function changedCopy(copy: Item, change: Change): Promise<Changed | undefined> {
  try {
    const { next } = await changed(copy, change)
    const { resourceVersion } = copy.meta
    const { resourceVersion: locked = resourceVersion } = next.metadata
    return locked === resourceVersion ? { current: copy, next } : undefined
  } catch {
    return undefined
  }
}

/** Adds the resourceVersion to a replacement that has none. */
const at = (resourceVersion: string, object: KubeObject): KubeObject => ({
  ...object,
  metadata: { resourceVersion, ...object.metadata },
})

/** A large object is encoded between other requests: a small one may have large defaults. */
const encoded = async (object: KubeObject): Promise<Buffer> =>
  (await inTurns(encodeObjectSteps(object), new Pace())).bytes

/** Deletes the object only in the state that `check` was given. */
export const remove =
  (source: Source, retries: WriteRetries): ResourceStorage['delete'] =>
  (ctx, key, check, options) =>
    retries.run({
      key,
      attempt: () => removeOnce(source, ctx, { key, check, options }),
      mayRetry: () => options.resourceVersion === undefined,
    })

interface Removal {
  readonly key: ObjectKey
  readonly check: Check
  readonly options: DeleteOptions
}

async function removeOnce(
  source: Source,
  ctx: RequestContext,
  { key, check, options }: Removal,
): Promise<Deletion> {
  const current = await newest(source, ctx, key)
  await check(current)
  const body = JSON.stringify(deleteOptions(current, options))
  const target = targetOf(source.ref, key)
  const answer = await itemFor(source, ctx, key, { method: 'DELETE', target, headers, body })
  return deletionOf(await decodedItem(answer), current)
}

const deleteOptions = ({ meta }: Item, { dryRun, uid, resourceVersion, propagation }: DeleteOptions) => ({
  apiVersion: 'v1',
  kind: 'DeleteOptions',
  preconditions: {
    uid: uid ?? meta.uid,
    resourceVersion: resourceVersion ?? meta.resourceVersion,
  },
  ...(propagation === undefined ? {} : { propagationPolicy: propagation }),
  ...(dryRun ? { dryRun: ['All'] } : {}),
})

/** A Status as the response means that the object is gone, and so does an object without finalizers. */
const deletionOf = (answer: Item, current: Item): Deletion =>
  answer.object.kind === 'Status'
    ? { item: current, removed: true }
    : { item: answer, removed: !isHeld(answer.object) }

/** A namespace also has finalizers in its spec. */
function isHeld({ metadata, spec }: KubeObject): boolean {
  const { finalizers = [] } = (spec ?? {}) as { readonly finalizers?: readonly unknown[] }
  const isTerminating = metadata.deletionTimestamp !== undefined
  return isTerminating && finalizers.length + (metadata.finalizers ?? []).length > 0
}
