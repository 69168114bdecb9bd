import type { RequestContext } from '../../framework/context.ts'
import { alreadyExists } from '../../framework/errors.ts'
import type { Item } from '../../framework/item.ts'
import { formatJson } from '../../framework/json.ts'
import type { ObjectKey } from '../../framework/object.ts'
import type { AppliedConfig, WriteOptions } from '../../framework/storage.ts'
import { isLostRace, itemFor, queryOf } from './exchange.ts'
import type { Source } from './source.ts'
import { targetOf } from './target.ts'

/** A configuration that is applied to one state of an object. */
export interface Applying {
  readonly key: ObjectKey
  readonly applied: AppliedConfig
  readonly options: WriteOptions
}

/**
 * Lets the shard apply a configuration, so that whoever applies owns its fields: in an object that is replaced, they
 * would count as updated. Nothing happens unless the object is at this version.
 */
export function apply(
  source: Source,
  ctx: RequestContext,
  resourceVersion: string,
  { key, applied, options }: Applying,
): Promise<Item> {
  const { config, force } = applied
  const { name, namespace } = key
  const metadata = { resourceVersion, ...(config.metadata ?? {}), name, ...(namespace && { namespace }) }
  const query = { ...queryOf(options), force: force ? 'true' : undefined }
  return itemFor(source, ctx, key, {
    method: 'PATCH',
    target: targetOf(source.ref, key, query),
    headers: { 'content-type': 'application/apply-patch+yaml' },
    body: formatJson({ ...config, metadata }),
  })
}

/** No object has it for long, and for one that is missing it does not count: so nothing but a new object comes of it. */
const nobodysVersion = '1'

/** Lets the shard make an object of a configuration. Throws 409 when there is one already. */
export async function createApplied(source: Source, ctx: RequestContext, applying: Applying): Promise<Item> {
  try {
    return await apply(source, ctx, nobodysVersion, applying)
  } catch (error) {
    if (!isLostRace(error)) throw error
    const { group, resource } = source.ref
    throw alreadyExists({ group, resource, name: applying.key.name })
  }
}
