import type { RequestContext } from '../framework/contract/context.ts'
import type { Item } from '../framework/contract/item.ts'
import type { WriteOptions } from '../framework/contract/storage.ts'
import { formatJson } from '../framework/json/json.ts'
import { alreadyExists } from '../framework/meta/errors.ts'
import type { ObjectKey } from '../framework/meta/object.ts'
import { applyType } from '../framework/wire/parsebody.ts'
import { targetOf } from './connection/target.ts'
import { isWriteConflict, itemFor, queryOf } from './reading/kinds.ts'
import type { Source } from './reading/source.ts'

/** A patch of an object at one resourceVersion. */
export interface Patching {
  readonly key: ObjectKey
  /** undefined: the patch itself has the resourceVersion. */
  readonly resourceVersion?: string
  readonly options: WriteOptions
}

/**
 * Forwards the patch to the shard instead of a PUT: the object may have fields that this server does not know, and
 * server-side apply must record its own field manager. Fails with a conflict unless the object has this
 * resourceVersion. undefined: the write is not a patch.
 */
export function sendPatch(
  source: Source,
  ctx: RequestContext,
  patching: Patching,
): Promise<Item> | undefined {
  const { key, options } = patching
  const { type = '', force, body } = options.patch ?? {}
  const patch = body?.()
  if (patch === undefined) return undefined
  return itemFor(source, ctx, key, {
    method: 'PATCH',
    target: targetOf(source.ref, key, { ...queryOf(options), force: force ? 'true' : undefined }),
    headers: { 'content-type': type },
    body: formatJson(Array.isArray(patch) ? lockedOperations(patch, patching) : locked(patch, patching)),
  })
}

type Members = Readonly<Record<string, unknown>>

const lockedOperations = (operations: readonly unknown[], { resourceVersion: value }: Patching) =>
  value === undefined ? operations : [...operations, { op: 'add', path: '/metadata/resourceVersion', value }]

/** An apply configuration also has the object's name. */
function locked(patch: unknown, { key: { name, namespace }, resourceVersion, options }: Patching): Members {
  const members = (patch ?? {}) as Members
  const metadata = {
    ...(members.metadata as Members | undefined),
    ...(resourceVersion === undefined ? {} : { resourceVersion }),
    ...(options.patch?.type === applyType ? { name, ...(namespace && { namespace }) } : {}),
  }
  return { ...members, metadata }
}

/**
 * A resourceVersion that no object keeps. Shards ignore it when the object does not exist: the request can create an
 * object, and not change one.
 */
const createOnlyVersion = '1'

/** Creates an object by server-side apply. Throws 409 when it exists. undefined: the write is not a patch. */
export async function createApplied(
  source: Source,
  ctx: RequestContext,
  patching: Patching,
): Promise<Item | undefined> {
  try {
    return await sendPatch(source, ctx, { ...patching, resourceVersion: createOnlyVersion })
  } catch (error) {
    if (!isWriteConflict(error)) throw error
    const { group, resource } = source.ref
    throw alreadyExists({ group, resource, name: patching.key.name })
  }
}
