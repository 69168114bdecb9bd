import { createHash } from 'node:crypto'
import { canonicalText } from '../../framework/apply/canonicaltext.ts'
import { atOnce, canonicalJson } from '../../framework/json/json.ts'
import type { JSONSchemaProps } from '../../framework/meta/jsonschema.ts'

/** The hash of a schema, and its characters in JSON. */
interface Digest {
  readonly hash: string
  readonly length: number
}

/** Values of a schema whose hash takes longer than many small requests. */
const manyValues = 2_048

export function isLarge(schema: JSONSchemaProps): boolean {
  let left = manyValues
  const count = (value: object): boolean =>
    Object.values(value).some(
      each => --left < 0 || (typeof each === 'object' && each !== null && count(each)),
    )
  return count(schema)
}

const digests = new WeakMap<JSONSchemaProps, Digest>()

/** The hash of a schema, computed once per object. Equal schemas have equal hashes, in any order of keys. */
export const schemaHash = (schema: JSONSchemaProps): string =>
  digests.get(schema)?.hash ??
  (isLarge(schema) ? atOnce(hashSteps(schema)) : hashed(schema, canonicalJson(schema)))

function hashed(schema: JSONSchemaProps, text: string): string {
  const hash = createHash('sha256').update(text).digest('base64url')
  digests.set(schema, { hash, length: text.length })
  return hash
}

/** The hash of a large schema. */
export function* hashSteps(schema: JSONSchemaProps): Generator<void, string> {
  const known = digests.get(schema)
  if (known !== undefined) return known.hash
  return hashed(schema, (yield* canonicalText(schema, Number.POSITIVE_INFINITY)) ?? '')
}

/** The characters of a schema in JSON; 1 if it has no hash yet. */
export const lengthOf = (schema: JSONSchemaProps): number => digests.get(schema)?.length ?? 1
