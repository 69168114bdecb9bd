import type { Item, RequestContext } from '../../framework/index.ts'
import { unlessNotFound } from '../../framework/meta/statuschecks.ts'
import { fieldEquals } from '../../framework/selectors/selectors.ts'
import { contextFor, type Unit } from './units.ts'

/** The version of an object that an event is about, as its logical cluster serves it. */
export async function servedForm(
  { key, meta }: Item,
  unit: Unit,
  request: RequestContext,
): Promise<Item | undefined> {
  const { storage } = unit.resource
  const ctx = contextFor(request, unit)
  const current = await Promise.resolve(storage.get(ctx, key)).catch(unlessNotFound)
  if (current?.meta.resourceVersion === meta.resourceVersion) return current
  const { cluster, namespace } = key
  const fields = fieldEquals('metadata.name', key.name)
  const exact = { resourceVersion: meta.resourceVersion, match: 'Exact' as const }
  for await (const batch of storage.list(ctx, { cluster, namespace, fields, ...exact }))
    for (const item of batch) return item
  return undefined
}
