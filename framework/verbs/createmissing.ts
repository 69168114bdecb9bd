import { aboutOf, type Served } from '../contract/apis.ts'
import type { Item } from '../contract/item.ts'
import { conflict, invalid, StatusError } from '../meta/errors.ts'
import type { KubeObject, ObjectKey } from '../meta/object.ts'
import type { Call } from './call.ts'

/** Whoever names a uid means an object that there is: throws 409 when there is none. */
export function checkUid(
  served: Served,
  { name }: ObjectKey,
  { metadata }: KubeObject,
  why: (uid: string) => string,
): void {
  const { uid = '' } = metadata
  if (uid !== '') throw conflict(aboutOf(served, name), why(uid))
}

/** A version of what is not there is no lock. */
export function unversioned(object: KubeObject): KubeObject {
  const { resourceVersion: _, ...metadata } = object.metadata
  return { ...object, metadata }
}

const isCode = (error: unknown, code: number): boolean => error instanceof StatusError && error.code === code

/** Updates an object, or creates it when there is none; when somebody else has been faster, updates theirs. */
export async function createdOr(
  update: () => Promise<Item>,
  create: () => Promise<Item>,
): Promise<{ item: Item; status: number }> {
  try {
    return { item: await update(), status: 200 }
  } catch (error) {
    if (!isCode(error, 404)) throw error
  }
  try {
    return { item: await create(), status: 201 }
  } catch (error) {
    const isTaken = isCode(error, 409) && (error as StatusError).reason === 'AlreadyExists'
    if (!isTaken) throw error
    return { item: await update(), status: 200 }
  }
}

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
