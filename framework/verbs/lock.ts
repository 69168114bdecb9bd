import type { KubeObject } from '../object.ts'

/** Without a resourceVersion of its own a patch is no optimistic lock: a lost race applies it again (chapter 40, rule 5.5). */
export function unlocked(object: KubeObject, current: KubeObject): KubeObject {
  const { resourceVersion, ...metadata } = object.metadata
  return resourceVersion === current.metadata.resourceVersion ? { ...object, metadata } : object
}
