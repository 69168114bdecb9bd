import { aboutOf, type Served } from '../contract/apis.ts'
import type { Item } from '../contract/item.ts'
import { conflict, invalid, StatusError } from '../meta/errors.ts'
import type { KubeObject, ObjectKey } from '../meta/object.ts'
import { isNotFound } from '../meta/statuschecks.ts'
import type { Call } from './call.ts'

/** Throws 409 for a body with a uid: a missing object cannot have it. */
export function checkUid(
  served: Served,
  { name }: ObjectKey,
  { metadata }: KubeObject,
  why: (uid: string) => string,
): void {
  const { uid = '' } = metadata
  if (uid !== '') throw conflict(aboutOf(served, name), why(uid))
}

/** The object without its resourceVersion, which is no precondition on a missing object. */
export function unversioned(object: KubeObject): KubeObject {
  const { resourceVersion: _, ...metadata } = object.metadata
  return { ...object, metadata }
}

/** Updates an object, or creates it when it is missing; when it was created in between, updates it. */
export async function createdOr(
  update: () => Promise<Item>,
  create: () => Promise<Item>,
): Promise<{ item: Item; status: number }> {
  try {
    return { item: await update(), status: 200 }
  } catch (error) {
    if (!isNotFound(error)) throw error
  }
  try {
    return { item: await create(), status: 201 }
  } catch (error) {
    const isTaken = error instanceof StatusError && error.reason === 'AlreadyExists'
    if (!isTaken) throw error
    return { item: await update(), status: 200 }
  }
}

/** resourceVersion 0 is the same as none: any version. */
function versioned(object: KubeObject): KubeObject {
  const { resourceVersion, ...metadata } = object.metadata
  return resourceVersion === '0' ? { ...object, metadata } : object
}

/**
 * The object to write, without a resourceVersion of 0. Throws 422 when the kind requires a resourceVersion and there is
 * none (rules.md 3.22).
 */
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

/**
 * The patched object without the resourceVersion of `current`: a patch that does not set one is applied again after a
 * conflict (rules.md 5.5).
 */
export function unlocked(object: KubeObject, current: KubeObject): KubeObject {
  const { resourceVersion, ...metadata } = object.metadata
  return resourceVersion === current.metadata.resourceVersion ? { ...object, metadata } : object
}
