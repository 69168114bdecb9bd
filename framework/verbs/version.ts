import { invalid } from '../meta/errors.ts'
import type { KubeObject } from '../meta/object.ts'
import type { Call } from './call.ts'

/** 0 is none: any version will do. */
function versioned(object: KubeObject): KubeObject {
  const { resourceVersion, ...metadata } = object.metadata
  return resourceVersion === '0' ? { ...object, metadata } : object
}

/** What is to be written, with the version it shall replace. Last write wins only where the kind says so (chapter 40, rule 3.22). */
export function withRequiredVersion({ served }: Call, sent: KubeObject): KubeObject {
  const object = versioned(sent)
  const { resourceVersion = '', name = '' } = object.metadata
  const { unconditionalUpdate, names } = served.resource
  if (unconditionalUpdate || served.subresource === 'scale' || resourceVersion !== '') return object
  throw invalid(names.plural, served.resource.group, name, [
    {
      type: 'FieldValueInvalid',
      field: 'metadata.resourceVersion',
      value: 0,
      detail: 'must be specified for an update',
    },
  ])
}

/** Without a resourceVersion of its own a patch is no optimistic lock: a lost race applies it again (chapter 40, rule 5.5). */
export function unlocked(object: KubeObject, current: KubeObject): KubeObject {
  const { resourceVersion, ...metadata } = object.metadata
  return resourceVersion === current.metadata.resourceVersion ? { ...object, metadata } : object
}
