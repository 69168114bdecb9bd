import type { Item } from '../../framework/contract/item.ts'
import type { WriteOptions } from '../../framework/contract/storage.ts'
import { StatusError } from '../../framework/meta/errors.ts'
import type { KubeObject } from '../../framework/meta/object.ts'
import { applyType } from '../../framework/wire/parsebody.ts'

/** Bytes of a stored object: what etcd takes in one request. */
const largest = 1.5 * 1024 * 1024

/** An object that is too large to be stored; 500 in the words of etcd, which clients know. */
export class ObjectTooLarge extends StatusError {
  constructor() {
    super(500, '', 'etcdserver: request is too large')
  }
}

export function checkSize(stored: Buffer): void {
  if (stored.length > largest) throw new ObjectTooLarge()
}

/**
 * Writes an object, without its managedFields when it is too large with them: who owns what is given up before the object
 * is, but not of what somebody applies (chapter 40, rule 5.60).
 */
export async function writeWithin(
  object: KubeObject,
  { patch }: WriteOptions,
  write: (object: KubeObject) => Promise<Item>,
): Promise<Item> {
  try {
    return await write(object)
  } catch (error) {
    const { managedFields, ...metadata } = object.metadata
    if (!(error instanceof ObjectTooLarge) || patch?.type === applyType || managedFields === undefined)
      throw error
    return write({ ...object, metadata })
  }
}
