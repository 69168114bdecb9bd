import { createHash } from 'node:crypto'
import { StatusError } from '../framework/meta/errors.ts'
import type { JSONSchemaProps } from '../framework/meta/jsonschema.ts'
import type { KubeObject } from '../framework/meta/object.ts'
import { compileCached, schemaHash } from './compile.ts'
import type { KindVersion } from './definitions/definition.ts'
import { compilePruning, UnreadableError } from './validation/pruning.ts'

const numbers = new WeakMap<KindVersion, number>()

/** A version and the content of its schema as a number: kept beside each object that was completed by it. Never 0. */
export function shapeNumber(version: KindVersion): number {
  const known = numbers.get(version)
  if (known !== undefined) return known
  const text = `${version.name}/${schemaHash(version.schema)}`
  const number = createHash('sha256').update(text).digest().readInt32LE(0) || 1
  numbers.set(version, number)
  return number
}

/**
 * A stored object, pruned and defaulted by the schema that its version has now; the same object when there is nothing to
 * do. What has become unreadable stays as it is: nobody could repair it otherwise.
 */
export function completed(schema: JSONSchemaProps, object: KubeObject): KubeObject {
  try {
    return compileCached(schema).decode(object).object
  } catch (error) {
    if (error instanceof StatusError) return object
    throw error
  }
}

type Prune = ReturnType<typeof compilePruning>
const prunes = new WeakMap<JSONSchemaProps, Prune>()

/** Without what the schema does not know, and no more: nothing is defaulted on the way into another version. */
export function pruned(schema: JSONSchemaProps, object: KubeObject): KubeObject {
  const prune = prunes.get(schema) ?? compilePruning(schema, { root: true, defaults: false })
  prunes.set(schema, prune)
  try {
    return prune(object).value as KubeObject
  } catch (error) {
    if (error instanceof UnreadableError) return object
    throw error
  }
}
