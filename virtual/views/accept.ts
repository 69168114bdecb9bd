import { type Item, invalid, type KubeObject } from '../../framework/index.ts'
import { type FieldSteps, hasPath } from './fields/fieldsteps.ts'
import { withHiddenManagers } from './fields/managers.ts'
import { treeOf, withoutPaths } from './fields/pathtree.ts'
import { HiddenFieldsLost, withHidden } from './fields/restore.ts'
import { withUnwritable } from './fields/unwritable.ts'
import { firstDifference } from './fields/values.ts'
import { lastApplied } from './masker.ts'
import type { ResourcePlan } from './plan.ts'
import { hasStatus } from './staying.ts'

/** A write through a View. `shown` and `stored` are absent on create. */
export interface ViewWriting {
  readonly plan: ResourcePlan
  /** The name of the View, for errors. */
  readonly name: string
  readonly sent: KubeObject
  readonly shown?: Item
  readonly stored?: Item
}

/** The object to store. Throws 422 that names a field which cannot be written. */
export function accepted(writing: ViewWriting): KubeObject {
  const { plan, stored, shown, sent } = writing
  checkHidden(writing)
  const plain = withoutAdded({ ...writing, sent: writableOf(writing) })
  if (stored === undefined || shown === undefined || plan.hide.length === 0) return plain
  try {
    const whole = withHidden(plain, shown.object, stored.object, plan.hide) as KubeObject
    const owned = withHiddenManagers(whole, stored.object, plan.hide)
    return withApplied(owned, sent, shown.object, stored.object)
  } catch (error) {
    if (!(error instanceof HiddenFieldsLost)) throw error
    throw refusedField(writing, error.field, 'cannot be changed, because the View hides fields in it')
  }
}

function refusedField({ plan, name, sent }: ViewWriting, field: string, why: string): Error {
  const { group, names } = plan.source
  const detail = `${why} (View ${JSON.stringify(name)})`
  return invalid(names.kind, group, sent.metadata.name ?? '', [
    { type: 'FieldValueForbidden', field, detail },
  ])
}

/** Fields that the schema does not have are dropped before; these are in maps and unknown fields. */
function checkHidden(writing: ViewWriting): void {
  const found = writing.plan.hide.find(({ steps }) => hasPath(writing.sent, steps))
  if (found !== undefined) throw refusedField(writing, found.text, 'cannot be written')
}

/** What the View adds is not stored: the annotations are as they are stored. */
function withoutAdded({ plan, sent, shown, stored, ...writing }: ViewWriting): KubeObject {
  if (plan.annotate.length === 0) return sent
  const annotations = { ...sent.metadata.annotations }
  for (const { name } of plan.annotate) {
    const own = annotations[name]
    const isUnchanged = own === undefined || shown === undefined || own === shown.meta.annotations[name]
    if (!isUnchanged)
      throw refusedField(
        { ...writing, plan, sent },
        `metadata.annotations[${name}]`,
        'cannot be written, because the View adds it',
      )
    delete annotations[name]
    const kept = stored?.meta.annotations[name]
    if (kept !== undefined) annotations[name] = kept
  }
  const { annotations: _, ...metadata } = sent.metadata
  return { ...sent, metadata: { ...metadata, ...(Object.keys(annotations).length > 0 && { annotations }) } }
}

/** What kubectl applied, as it is stored, unless the client changed it. */
function withApplied(
  object: KubeObject,
  sent: KubeObject,
  shown: KubeObject,
  stored: KubeObject,
): KubeObject {
  const [a, b] = [sent.metadata.annotations?.[lastApplied], shown.metadata.annotations?.[lastApplied]]
  const own = stored.metadata.annotations?.[lastApplied]
  if (own === undefined || a !== b) return object
  const annotations = { ...object.metadata.annotations, [lastApplied]: own }
  return { ...object, metadata: { ...object.metadata, annotations } }
}

/** What was sent, with only the writable fields changed. Throws 422 for a change of another one. */
function writableOf(writing: ViewWriting): KubeObject {
  const { plan, sent, shown } = writing
  if (plan.writable === undefined) return sent
  const before = shown?.object ?? defaultsOf(plan, plan.writable, sent)
  const [a, b] = [before, sent].map(object => remaining(object, writing))
  const field = firstDifference(a, b)
  if (field !== undefined) throw refusedField(writing, field, 'cannot be written')
  const { apiVersion, kind, metadata, status } = sent
  const kept = withUnwritable(sent, before, treeOf(plan.writable)) as KubeObject
  if (!hasStatus(plan)) return { ...kept, apiVersion, kind, metadata }
  const { status: _, ...others } = kept
  return { ...others, apiVersion, kind, metadata, ...(status !== undefined && { status }) }
}

/** The fields that the server sets, and the writable ones, are not compared. */
function remaining({ metadata, ...fields }: KubeObject, { plan }: ViewWriting): unknown {
  const { labels, annotations, finalizers, ownerReferences } = metadata
  const added = plan.annotate.map(({ name }) => name)
  const own = Object.entries(annotations ?? {}).filter(([name]) => !added.includes(name))
  const { status, ...spec } = fields
  const compared = {
    ...spec,
    ...(!hasStatus(plan) && { status }),
    metadata: { labels, annotations: Object.fromEntries(own), finalizers, ownerReferences },
  }
  return withoutPaths(compared, treeOf(plan.writable ?? []))
}

/** A new object with its writable fields only, and defaults: what differs from it was written. */
function defaultsOf(plan: ResourcePlan, writable: readonly FieldSteps[], sent: KubeObject): KubeObject {
  const { apiVersion, kind, metadata } = sent
  const only = writable.reduce<Record<string, unknown>>((object, path) => copied(object, sent, path), {})
  const { name, namespace } = metadata
  const base = { ...only, apiVersion, kind, metadata: { ...(only.metadata as object), name, namespace } }
  return plan.source.schema.decode(base as unknown as KubeObject).object
}

/** The object with what another one has at a path of keys; a list is copied as a whole. */
function copied(
  target: Readonly<Record<string, unknown>>,
  from: unknown,
  { steps: [step, ...rest], text }: FieldSteps,
): Record<string, unknown> {
  if (step === undefined || step === 'each' || typeof from !== 'object' || from === null) return { ...target }
  const value = (from as Readonly<Record<string, unknown>>)[step.key]
  if (value === undefined || !Object.hasOwn(from, step.key)) return { ...target }
  if (rest.length === 0 || rest[0] === 'each') return { ...target, [step.key]: value }
  const inner = (target[step.key] ?? {}) as Readonly<Record<string, unknown>>
  return { ...target, [step.key]: copied(inner, value, { text, steps: rest }) }
}
