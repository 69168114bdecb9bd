import type { FieldError } from '../meta/errors.ts'
import type { MergeSchema } from '../meta/mergeschema.ts'
import type { KubeObject } from '../meta/object.ts'
import { objectMetaSchema } from '../meta/objectmeta.ts'

/** A decoded request body and what was wrong with it; the caller decides between drop, warn and refuse. */
export interface Decoded {
  readonly object: KubeObject
  /** Paths of unknown fields, sorted, those of embedded metadata last: `spec.foo`, `spec.items[0].bar` (chapter 40, rule 2.47). */
  readonly unknown: readonly string[]
}

/**
 * The compiled schema of one kind in one version. The kernel declares it, `openapi/` implements it; compiled once per
 * content hash and shared by every logical cluster that serves it.
 */
export interface ObjectSchema {
  /** Prunes unknown fields, drops nulls that may not be, applies defaults (chapter 40, section 7.3). Does not modify its
   * input, and shares with it what stays. Throws 400 when metadata has fields of the wrong type, or on too deep nesting. */
  decode(object: KubeObject): Decoded
  /** Schema errors of an already decoded object (chapter 40, section 7.4); with `old`, errors at unchanged values are
   * dropped (ratcheting, section 7.5). Metadata is not looked at. */
  validate(object: KubeObject, old?: KubeObject, scope?: ValidationScope): readonly FieldError[]
}

/** What of an object is looked at: everything, unless it says less. */
export interface ValidationScope {
  /** The status and nothing else, but for rules and repeated items: paths in texts begin below it. */
  readonly onlyStatus?: boolean
  /** Items of sets, and keys of lists of type map, may be repeated. */
  readonly mayRepeat?: boolean
}

/** One column of a Table (chapter 40, section 7.9). */
export interface TableColumn {
  readonly name: string
  readonly type: string
  readonly format: string
  readonly description: string
  readonly priority: number
  /** The cell of one object: string, number, boolean or null. `now` is for ages. */
  cell(object: KubeObject, now: Date): string | number | boolean | null
}

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
