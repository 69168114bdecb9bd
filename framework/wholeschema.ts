import type { MergeSchema } from './mergeschema.ts'
import { objectMetaSchema } from './objectmeta.ts'

type RawSchema = Readonly<Record<string, unknown>>

const whole = new WeakMap<RawSchema, MergeSchema>()

/** The published schema of a kind, with metadata as every object has it. Made once per schema. */
export function wholeSchema(openapi: RawSchema): MergeSchema {
  const known = whole.get(openapi)
  if (known !== undefined) return known
  const schema = openapi as MergeSchema
  const made = { ...schema, properties: { ...schema.properties, metadata: objectMetaSchema } }
  whole.set(openapi, made)
  return made
}
