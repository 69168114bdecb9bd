import { sameJson } from '../json/json.ts'
import type { Json, KubeObject } from '../meta/object.ts'
import { isMembers } from './fieldpath/values.ts'

/**
 * The object with the times of the old one's managedFields where nothing else in these differs, so that a write that changes
 * nothing is none (chapter 40, rules 3.27, 5.61).
 */
export function withTimesOf(object: KubeObject, old: KubeObject): KubeObject {
  const [now, before] = [object.metadata.managedFields, old.metadata.managedFields]
  if (now === undefined || before === undefined || now === before) return object
  if (!sameJson(timeless(now), timeless(before))) return object
  return { ...object, metadata: { ...object.metadata, managedFields: before } }
}

const timeless = (entries: readonly Json[]): readonly unknown[] =>
  entries.map(entry => (isMembers(entry) ? { ...entry, time: undefined } : entry))
