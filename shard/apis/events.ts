import type { ResourceStorage } from '../../framework/contract/storage.ts'
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

/** Events are stored as `v1` and converted to `events.k8s.io/v1`. */
export const groupEventStorage = (core: ResourceStorage): ResourceStorage =>
  viewOf(core, () => ({
    present: event => rename(event, toGroup, apiVersionOf('events.k8s.io', 'v1')),
    accept: event => rename(event, toCore, 'v1'),
  }))
