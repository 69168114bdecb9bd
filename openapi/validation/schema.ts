import { listKind } from '../../cel/schema/adapt.ts'
import {
  isObject,
  type JsonObject,
  keysOf,
  LazyMembers,
  lazily,
  memberOf,
} from '../../framework/json/values.ts'
import type { FieldError } from '../../framework/meta/errors.ts'
import type { ErrorSteps } from '../../framework/meta/errorsteps.ts'
import { formatPath, invalidValue, required, tooMany } from '../../framework/meta/fielderror.ts'
import type { JSONSchemaProps } from '../../framework/meta/jsonschema.ts'
import { CompiledSize, maxSchemaDepth, requireDepth } from '../nodes/nodes.ts'
import { logicCheck } from './logic.ts'
import { LimitExceeded, ValidationPaused, ValidationProgress } from './progress.ts'
import {
  allRules,
  type CompileBelow,
  checkBelow,
  enumRule,
  isFull,
  newWalk,
  numberRule,
  pathOf,
  stringRule,
  typeRule,
  type ValueCheck,
  type ValueRule,
  type Walk,
} from './validation.ts'

/** Compiled checks, shared between a schema and its parts. */
export class CompiledChecks {
  readonly known = new Map<JSONSchemaProps, ValueCheck>()
  readonly size: CompiledSize

  constructor(size = new CompiledSize()) {
    this.size = size
  }
}

/**
 * Compiles the validation of a schema (rules.md 7.23 to 7.26), and what is below its properties when it is needed. Throws if it is deeper
 * than `maxSchemaDepth`.
 */
export const compileCheck = (schema: JSONSchemaProps, checks = new CompiledChecks()): ValueCheck =>
  compileAt(schema, maxSchemaDepth, checks)

function compileAt(schema: JSONSchemaProps, depth: number, checks: CompiledChecks): ValueCheck {
  requireDepth(depth)
  const known = checks.known.get(schema)
  if (known !== undefined) return known
  const check = nodeCheck(schema, below => compileAt(below, depth - 1, checks))
  checks.size.nodes++
  checks.known.set(schema, check)
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

/** How a value is validated. */
export interface Validated {
  /** Errors at unchanged values are dropped (ratcheting, KEP-4008). */
  readonly old?: unknown
  /** Absent: matches of patterns that may take more than 25 milliseconds are refused, and no step is a promise. */
  readonly account?: string | undefined
}

/**
 * Validates a value. Begins again after pauses, with the kept results of matches and alternatives; long matches of `account` are made in
 * a thread, whose errors it throws.
 */
export function* validateSteps(
  check: ValueCheck,
  value: unknown,
  { old, account }: Validated = {},
): ErrorSteps {
  const progress = lazily(() => new ValidationProgress(account))
  for (;;) {
    let paused: ValidationPaused
    try {
      return errorsOf(check, [value, old], progress)
    } catch (error) {
      if (error instanceof LimitExceeded) return [limitError(error)]
      if (!(error instanceof ValidationPaused)) throw error
      paused = error
    }
    yield paused.until
    progress().begin()
  }
}

const limitError = ({ path, message }: LimitExceeded): FieldError =>
  invalidValue(formatPath(path), '', message)

function errorsOf(
  check: ValueCheck,
  [value, old]: readonly [unknown, unknown],
  progress: Walk['progress'],
): readonly FieldError[] {
  const walk = newWalk(progress)
  check(value, undefined, walk)
  // The old value is compared only if there are errors.
  if (walk.errors.length === 0 || old === undefined) return walk.errors
  if (progress().areSame(value, old)) return []
  const compared = newWalk(progress)
  check(value, old, compared)
  return compared.errors
}

/** Validates the items, then their number. */
function listCheck(schema: JSONSchemaProps, compile: CompileBelow): ValueCheck | undefined {
  const items = schema.items === undefined ? undefined : compile(schema.items)
  const size = sizeRule(schema)
  if (items === undefined && size === undefined) return undefined
  const kind = listKind(schema)
  const correlate = kind.type === 'map' ? byKeys(kind.keyOf) : () => uncorrelated
  return (value, old, walk) => {
    const list = value as readonly unknown[]
    if (items !== undefined) {
      const { differs } = walk
      const { oldOf, isUnique } = correlate(old)
      for (let i = 0; i < list.length && !isFull(walk); i++)
        checkBelow(i, items, [list[i], oldOf(list[i])], walk)
      // An item may be compared with another one of the same key in an equal list.
      if (!isUnique) walk.differs = differs
    }
    size?.(list, walk)
  }
}

interface Correlated {
  readonly oldOf: (item: unknown) => unknown
  /** Whether each old item has another key. */
  readonly isUnique: boolean
}

/** Only items of lists of type map are correlated with old items (rules.md 7.27). */
const uncorrelated: Correlated = { oldOf: () => undefined, isUnique: true }

const byKeys =
  (keyOf: (item: unknown) => string) =>
  (old: unknown): Correlated => {
    if (!Array.isArray(old)) return uncorrelated
    const items = new Map(old.map(item => [keyOf(item), item]))
    return { oldOf: item => items.get(keyOf(item)), isUnique: items.size === old.length }
  }

const sizeRule = ({ minItems, maxItems }: JSONSchemaProps): ValueRule<readonly unknown[]> | undefined =>
  allRules<readonly unknown[]>([
    minItems === undefined
      ? undefined
      : ({ length }, walk) => {
          if (length < minItems) tooFew(walk, length, `${minItems} items`)
        },
    maxItems === undefined
      ? undefined
      : ({ length }, walk) => {
          if (length > maxItems) walk.errors.push(tooMany(pathOf(walk), length, maxItems))
        },
  ])

function tooFew(walk: Walk, count: number, text: string): void {
  const path = pathOf(walk)
  walk.errors.push(invalidValue(path, count, `${path} in body should have at least ${text}`))
}

interface Members {
  readonly known: LazyMembers<JSONSchemaProps, ValueCheck>
  readonly other: ValueCheck | undefined
}

/** Validates the number of members, then each member, then required members. */
function objectCheck(schema: JSONSchemaProps, compile: CompileBelow): ValueCheck {
  const { properties, additionalProperties: other, required: names = [] } = schema
  const members: Members = {
    known: new LazyMembers(properties, compile),
    other: isObject(other) ? compile(other) : other === false ? notAllowed : undefined,
  }
  const count = countRule(schema)
  const hasMembers = !members.known.isEmpty || members.other !== undefined
  return (value, old, walk) => {
    const fields = value as JsonObject
    count?.(fields, walk)
    if (hasMembers) checkMembers(members, [fields, old], walk)
    for (const name of names)
      if (memberOf(fields, name) === undefined) walk.errors.push(required(pathBelow(walk, name)))
  }
}

function checkMembers({ known, other }: Members, values: readonly [JsonObject, unknown], walk: Walk): void {
  const [fields, old] = values
  for (const key of keysOf(fields)) {
    if (isFull(walk)) return
    const check = known.get(key) ?? other
    const value = fields[key]
    if (check === undefined || value === undefined) continue
    const ratchets = walk.steps.length > 0 || (key !== 'apiVersion' && key !== 'kind')
    checkBelow(key, check, [value, ratchets ? memberOf(old, key) : undefined], walk)
  }
}

function pathBelow(walk: Walk, name: string): string {
  walk.steps.push(name)
  const path = pathOf(walk)
  walk.steps.pop()
  return path
}

const notAllowed: ValueCheck = (_value, _old, walk) => {
  const parent = { ...walk, steps: walk.steps.slice(0, -1) }
  const text = `${pathOf(walk)} in body is a forbidden property`
  walk.errors.push(invalidValue(pathOf(parent), walk.steps.at(-1), text))
}

const countRule = ({ minProperties, maxProperties }: JSONSchemaProps): ValueRule<JsonObject> | undefined =>
  minProperties === undefined && maxProperties === undefined
    ? undefined
    : (fields, walk) => {
        const count = keysOf(fields).length
        if (count < (minProperties ?? 0)) tooFew(walk, count, `${minProperties} properties`)
        if (maxProperties !== undefined && count > maxProperties)
          walk.errors.push(tooMany(pathOf(walk), count, maxProperties))
      }
