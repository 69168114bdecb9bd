import { aboutOf, type Served } from '../contract/apis.ts'
import type { Item } from '../contract/item.ts'
import { conflict, StatusError } from '../meta/errors.ts'
import type { KubeObject, ObjectKey } from '../meta/object.ts'

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
