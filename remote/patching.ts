import type { RequestContext } from '../framework/contract/context.ts'
import type { Item } from '../framework/contract/item.ts'
import type { WriteOptions } from '../framework/contract/storage.ts'
import { formatJson } from '../framework/json/json.ts'
import { alreadyExists } from '../framework/meta/errors.ts'
import type { ObjectKey } from '../framework/meta/object.ts'
import { applyType } from '../framework/wire/parsebody.ts'
import { targetOf } from './connection/target.ts'
import { isLostRace, itemFor, queryOf } from './reading/kinds.ts'
import type { Source } from './reading/source.ts'

/** A patch of one state of an object. */
export interface Patching {
  readonly key: ObjectKey
  /** undefined: the patch itself says which version it is for. */
  readonly resourceVersion?: string
  readonly options: WriteOptions
}

/**
 * Lets the shard patch the object: it may have fields that nobody knows here, and whoever applies owns its fields, which in an
 * object that is replaced would count as updated. Nothing happens unless the object is at this version. undefined: there
 * is no patch.
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

/** What is applied names the object, too. */
function locked(patch: unknown, { key: { name, namespace }, resourceVersion, options }: Patching): Members {
  const members = (patch ?? {}) as Members
  const metadata = {
    ...(members.metadata as Members | undefined),
    ...(resourceVersion === undefined ? {} : { resourceVersion }),
    ...(options.patch?.type === applyType ? { name, ...(namespace && { namespace }) } : {}),
  }
  return { ...members, metadata }
}

/** No object has it for long, and for one that is missing it does not count: so nothing but a new object comes of it. */
const nobodysVersion = '1'

/** Lets the shard make an object of what is applied. Throws 409 when there is one already. undefined: there is no patch. */
export async function createApplied(
  source: Source,
  ctx: RequestContext,
  patching: Patching,
): Promise<Item | undefined> {
  try {
    return await sendPatch(source, ctx, { ...patching, resourceVersion: nobodysVersion })
  } catch (error) {
    if (!isLostRace(error)) throw error
    const { group, resource } = source.ref
    throw alreadyExists({ group, resource, name: patching.key.name })
  }
}
