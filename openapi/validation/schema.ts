import { isDeepStrictEqual } from 'node:util'
import type { FieldError } from '../../framework/meta/errors.ts'
import type { JSONSchemaProps } from '../../framework/meta/jsonschema.ts'
import { listCheck, objectCheck } from './below.ts'
import { logicCheck } from './logic.ts'
import { enumRule, numberRule, stringRule, typeRule } from './scalar.ts'
import { type CompileBelow, newWalk, type ValueCheck } from './validation.ts'

/** The maximum depth of schemas, so that walking them does not overflow the stack. */
export const maxSchemaDepth = 200

/** Compiled checks, shared between a schema and its parts. */
export type CompiledChecks = Map<JSONSchemaProps, ValueCheck>

/** Compiles the validation of a schema (rules.md 7.23 to 7.26). Throws if it is deeper than `maxSchemaDepth`. */
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

/** Checks by the actual type of the value. */
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

/** Validates a value. With `old`, errors at unchanged values are dropped (ratcheting, KEP-4008). */
export function validate(check: ValueCheck, value: unknown, old?: unknown): readonly FieldError[] {
  const walk = newWalk()
  check(value, undefined, walk)
  // The old value is compared only if there are errors.
  if (walk.errors.length === 0 || old === undefined) return walk.errors
  if (isDeepStrictEqual(value, old)) return []
  const compared = newWalk()
  check(value, old, compared)
  return compared.errors
}
