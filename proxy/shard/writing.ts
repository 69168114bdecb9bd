import { setTimeout as sleep } from 'node:timers/promises'
import type { RequestContext } from '../../framework/context.ts'
import { encodeObject } from '../../framework/encode.ts'
import { StatusError } from '../../framework/errors.ts'
import type { Item } from '../../framework/item.ts'
import type { KubeObject, ObjectKey } from '../../framework/object.ts'
import type {
  Check,
  DeleteOptions,
  Deletion,
  ResourceStorage,
  WriteOptions,
} from '../../framework/storage.ts'
import { failureOf } from '../failure.ts'
import type { ShardAnswer, ShardRequest } from './connection.ts'
import { sentItem } from './item.ts'
import type { Source } from './source.ts'
import { targetOf } from './target.ts'

const json = { 'content-type': 'application/json' }

async function read(answer: ShardAnswer): Promise<Buffer> {
  try {
    return Buffer.from(await answer.body.arrayBuffer())
  } catch (error) {
    throw failureOf(error)
  }
}

/** Bytes on one line, as answers have them. */
const trimmed = (bytes: Buffer): Buffer => (bytes.at(-1) === 0x0a ? bytes.subarray(0, -1) : bytes)

async function itemFor(
  source: Source,
  ctx: RequestContext,
  key: ObjectKey,
  request: Omit<ShardRequest, 'signal'>,
): Promise<Item> {
  return sentItem(trimmed(await read(await source.ask(ctx, request))), key.cluster)
}

export const get =
  (source: Source): ResourceStorage['get'] =>
  (ctx, key) =>
    itemFor(source, ctx, key, { method: 'GET', target: targetOf(source.ref, key) })

const queryOf = ({ dryRun, fieldManager }: WriteOptions) => ({
  dryRun: dryRun ? 'All' : undefined,
  fieldManager,
})

/** The name of a new object is in its body; a subresource is below the object of that name. */
export const create =
  (source: Source): ResourceStorage['create'] =>
  (ctx, key, object, options) => {
    const place = source.ref.subresource ? key : { cluster: key.cluster, namespace: key.namespace }
    const target = targetOf(source.ref, place, queryOf(options))
    return itemFor(source, ctx, key, {
      method: 'POST',
      target,
      headers: json,
      body: encodeObject(object).bytes,
    })
  }

const attempts = 16

const isLostRace = (error: unknown): boolean =>
  error instanceof StatusError && error.code === 409 && error.reason === 'Conflict'

/** Does it again after a lost race, with what is there then. */
async function again<T>(attempt: () => Promise<T>, mayRetry: () => boolean): Promise<T> {
  for (let left = attempts - 1; ; left--) {
    try {
      return await attempt()
    } catch (error) {
      if (left === 0 || !mayRetry() || !isLostRace(error)) throw error
    }
    // Those who have lost to each other once do not come back at the same time.
    await sleep(20 * Math.random())
  }
}

/** Writes only over the state that the change has seen. */
export const update =
  (source: Source): ResourceStorage['update'] =>
  (ctx, key, change, options) => {
    let isLocked = false
    const attempt = async (): Promise<Item> => {
      const current = await get(source)(ctx, key)
      const next = await change(current)
      isLocked = next.metadata.resourceVersion !== undefined
      return put(source, ctx, { key, object: lockedTo(next, current), options })
    }
    return again(attempt, () => !isLocked)
  }

interface Put {
  readonly key: ObjectKey
  readonly object: KubeObject
  readonly options: WriteOptions
}

const put = (source: Source, ctx: RequestContext, { key, object, options }: Put): Promise<Item> =>
  itemFor(source, ctx, key, {
    method: 'PUT',
    target: targetOf(source.ref, key, queryOf(options)),
    headers: json,
    body: encodeObject(object).bytes,
  })

const lockedTo = (object: KubeObject, { meta }: Item): KubeObject => ({
  ...object,
  metadata: { resourceVersion: meta.resourceVersion, ...object.metadata },
})

/** Deletes only what the check has seen. */
export const remove =
  (source: Source): ResourceStorage['delete'] =>
  (ctx, key, check, options) =>
    again(
      () => removeOnce(source, ctx, { key, check, options }),
      () => options.resourceVersion === undefined,
    )

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
  const current = await get(source)(ctx, key)
  await check(current)
  const body = JSON.stringify(deleteOptions(current, options))
  const target = targetOf(source.ref, key)
  const bytes = trimmed(await read(await source.ask(ctx, { method: 'DELETE', target, headers: json, body })))
  return deletionOf(sentItem(bytes, key.cluster), current)
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

/** A Status says that the object is gone, and so does an object that nothing holds any more. */
const deletionOf = (answer: Item, current: Item): Deletion =>
  answer.object.kind === 'Status'
    ? { item: current, removed: true }
    : { item: answer, removed: !isHeld(answer.object) }

/** Namespaces have finalizers of their own. */
function isHeld({ metadata, spec }: KubeObject): boolean {
  const { finalizers = [] } = (spec ?? {}) as { readonly finalizers?: readonly unknown[] }
  const isTerminating = metadata.deletionTimestamp !== undefined
  return isTerminating && finalizers.length + (metadata.finalizers ?? []).length > 0
}
