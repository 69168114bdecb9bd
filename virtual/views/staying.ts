import { randomUUID } from 'node:crypto'
import { forbidden, itemOf, type KubeObject, type ObjectKey } from '../../framework/index.ts'
import { generatedName } from '../../framework/meta/names.ts'
import { timestamp } from '../../framework/meta/object.ts'
import { withoutSystemFields } from '../../framework/meta/objectmeta.ts'
import type { ResourcePlan } from './plan.ts'
import type { ViewSight } from './sight.ts'

interface Staying {
  readonly view: { readonly plan: ResourcePlan; readonly name: string }
  readonly sight: ViewSight
}

/** Throws 403 unless the View shows the object as it will be stored. */
export function checkStaying({ view, sight }: Staying, key: ObjectKey, object: KubeObject): void {
  const { plan, name } = view
  if (sight.shows(itemOf(object, key.cluster))) return
  const { group, names } = plan.source
  throw forbidden(
    { group, resource: names.plural, name: object.metadata.name ?? '' },
    `the object would be outside the View ${JSON.stringify(name)}: ${plan.field} does not select it`,
  )
}

/** Whether the status has an endpoint of its own, so that other writes do not change it. */
export const hasStatus = ({ source }: ResourcePlan): boolean =>
  source.subresources.some(({ name }) => name === 'status')

/** A new object with the name that it is stored with: the filter of the View may read it. */
export function withName(object: KubeObject): KubeObject {
  const { name, generateName } = object.metadata
  if (name || !generateName) return object
  return { ...object, metadata: { ...object.metadata, name: generatedName(generateName) } }
}

/** A new object with the fields that the server sets, instead of those that a client sends (rules.md 3.1 to 3.8). */
export function asCreated(plan: ResourcePlan, sent: KubeObject): KubeObject {
  const { apiVersion, kind } = sent
  const own = { uid: randomUUID(), creationTimestamp: timestamp() }
  const { generation: _, ...metadata } = withoutSystemFields(sent).metadata
  const made = { ...sent, metadata: { ...metadata, ...own } }
  if (!hasStatus(plan)) return made
  return withStatusOf(made, plan.source.schema.decode({ apiVersion, kind, metadata: {} }).object)
}

const kept = [
  'uid',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'generation',
] as const

/** A changed object with the fields that a client cannot change, as they are stored (rules.md 3.24, 3.29). */
export function asUpdated(plan: ResourcePlan, sent: KubeObject, stored: KubeObject): KubeObject {
  const metadata: Record<string, unknown> = { ...sent.metadata }
  for (const field of kept) {
    delete metadata[field]
    if (stored.metadata[field] !== undefined) metadata[field] = stored.metadata[field]
  }
  const updated = { ...sent, metadata }
  return hasStatus(plan) ? withStatusOf(updated, stored) : updated
}

function withStatusOf(object: KubeObject, { status }: KubeObject): KubeObject {
  const { status: _, ...others } = object
  return { ...others, ...(status !== undefined && { status }) }
}
