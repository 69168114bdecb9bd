import type { MergeSchema } from '../meta/mergeschema.ts'
import { objectMetaSchema } from '../meta/objectmeta.ts'

type RawSchema = Readonly<Record<string, unknown>>

const whole = new WeakMap<RawSchema, MergeSchema>()

const text: MergeSchema = { type: 'string' }

/** The published schema of a kind, with what every object has. Made once per schema. */
export function wholeSchema(openapi: RawSchema): MergeSchema {
  const known = whole.get(openapi)
  if (known !== undefined) return known
  const schema = openapi as MergeSchema
  const own = { ...schema.properties, apiVersion: text, kind: text, metadata: objectMetaSchema }
  const made = { ...schema, properties: own }
  whole.set(openapi, made)
  return made
}
