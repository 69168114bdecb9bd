import type { ResourceStorage, Selection } from '../../framework/contract/storage.ts'
import { viewOf } from '../../framework/lens/view.ts'
import { apiVersionOf, type KubeObject } from '../../framework/meta/object.ts'

/** The same fields in `v1` and in `events.k8s.io/v1`. */
const renamed: readonly (readonly [core: string, group: string])[] = [
  ['involvedObject', 'regarding'],
  ['message', 'note'],
  ['source', 'deprecatedSource'],
  ['firstTimestamp', 'deprecatedFirstTimestamp'],
  ['lastTimestamp', 'deprecatedLastTimestamp'],
  ['count', 'deprecatedCount'],
  ['reportingComponent', 'reportingController'],
]
const toGroup = new Map(renamed)
const toCore = new Map(renamed.map(([core, group]) => [group, core]))

const rename = (object: KubeObject, names: ReadonlyMap<string, string>, apiVersion: string): KubeObject => {
  const fields = Object.entries(object).map(([field, value]) => [names.get(field) ?? field, value])
  return { ...(Object.fromEntries(fields) as KubeObject), apiVersion }
}

/** Field selectors have the names of `events.k8s.io`; stored events have those of core. */
const coreField = (field: string): string => {
  const [first = '', ...rest] = field.split('.')
  return [toCore.get(first) ?? first, ...rest].join('.')
}

function narrow<Q extends Selection>(query: Q): Q {
  if (query.fields === undefined) return query
  const requirements = query.fields.requirements.map(r => ({ ...r, field: coreField(r.field) }))
  return { ...query, fields: { requirements } }
}

/** Events are stored as `v1` and converted to `events.k8s.io/v1`. */
export const groupEventStorage = (core: ResourceStorage): ResourceStorage =>
  viewOf(core, () => ({
    narrow,
    present: event => rename(event, toGroup, apiVersionOf('events.k8s.io', 'v1')),
    accept: event => rename(event, toCore, 'v1'),
  }))
