import { isDeepStrictEqual } from 'node:util'
import type { FieldError } from '../../framework/meta/errors.ts'
import type { JSONSchemaProps } from '../../framework/meta/jsonschema.ts'
import { listCheck, objectCheck } from './below.ts'
import { logicCheck } from './logic.ts'
import { enumRule, numberRule, stringRule, typeRule } from './scalar.ts'
import { type CompileBelow, newWalk, type ValueCheck } from './validation.ts'

/** Deeper schemas are refused: no real one comes near, and walking them must not overflow the stack. */
export const maxSchemaDepth = 200

/** Checks that are compiled already: for those who compile a schema and then parts of it. */
export type CompiledChecks = Map<JSONSchemaProps, ValueCheck>

/** Compiles the validation of a schema (chapter 40, section 7.4). Throws on schemas deeper than `maxSchemaDepth`. */
export const compileCheck = (schema: JSONSchemaProps, known: CompiledChecks = new Map()): ValueCheck =>
  compileAt(schema, maxSchemaDepth, known)

function compileAt(schema: JSONSchemaProps, depth: number, known: CompiledChecks): ValueCheck {
  if (depth === 0) throw new Error(`the schema is nested deeper than ${maxSchemaDepth} levels`)
  const check = known.get(schema) ?? nodeCheck(schema, below => compileAt(below, depth - 1, known))
  known.set(schema, check)
  return check
}

function nodeCheck(schema: JSONSchemaProps, compile: CompileBelow): ValueCheck {
  const type = typeRule(schema)
  const logic = logicCheck(schema, compile)
  const enumeration = enumRule(schema)
  const below = contentCheck(schema, compile)
  return (value, old, walk) => {
    walk.visits++
    type?.(value, walk)
    if (value !== null) {
      logic?.(value, old, walk)
      if (typeof value !== 'object' || Array.isArray(value)) below(value, old, walk)
    }
    enumeration?.(value, walk)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) below(value, old, walk)
  }
}

/** The checks that depend on what the value is, whatever it should be. */
function contentCheck(schema: JSONSchemaProps, compile: CompileBelow): ValueCheck {
  const text = stringRule(schema)
  const number = numberRule(schema)
  const list = listCheck(schema, compile)
  const object = objectCheck(schema, compile)
  return (value, old, walk) => {
    if (typeof value === 'string') text?.(value, walk)
    else if (typeof value === 'number' || typeof value === 'bigint') number?.(value, walk)
    else if (Array.isArray(value)) list?.(value, old, walk)
    else if (typeof value === 'object' && value !== null) object(value, old, walk)
  }
}

/** What is wrong with a whole value; with `old`, errors at values that have not changed are dropped. */
export function validate(check: ValueCheck, value: unknown, old?: unknown): readonly FieldError[] {
  const walk = newWalk()
  check(value, undefined, walk)
  // Comparing costs, and only matters when there is something to forgive.
  if (walk.errors.length === 0 || old === undefined) return walk.errors
  if (isDeepStrictEqual(value, old)) return []
  const compared = newWalk()
  check(value, old, compared)
  return compared.errors
}
