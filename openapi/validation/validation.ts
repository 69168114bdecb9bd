import { formatCheck } from '../../framework/formats/formats.ts'
import { lazyPattern } from '../../framework/formats/pattern.ts'
import { canonicalJson, formatJson } from '../../framework/json/json.ts'
import { codePoints, formatNumber, type JsonType, lazily, typeOf } from '../../framework/json/values.ts'
import type { FieldError } from '../../framework/meta/errors.ts'
import {
  formatPath,
  invalidType,
  invalidValue,
  type PathStep,
  tooLong,
  unsupported,
} from '../../framework/meta/fielderror.ts'
import type { JSONSchemaProps } from '../../framework/meta/jsonschema.ts'
import type { ValidationProgress } from './progress.ts'

/** The state of a validation. Paths are formatted only for errors. */
export interface Walk {
  readonly steps: PathStep[]
  readonly errors: FieldError[]
  /** The number of visited values, by which the closest of several failing alternatives is chosen. */
  visits: number
  /** Whether a value with an error differs from its old one, so that the values around both differ, too. */
  differs: boolean
  /** Made when the first pattern or alternative needs it. */
  readonly progress: () => ValidationProgress
}

/** Validation stops at this number of errors. */
export const maxErrors = 1000

export const isFull = (walk: Walk): boolean => walk.errors.length >= maxErrors

/**
 * Appends the errors of a value. `old` is the correlated old value; undefined if there is none, or without ratcheting
 * (rules.md 7.27).
 */
export type ValueCheck = (value: unknown, old: unknown, walk: Walk) => void

/** A check that needs no old value. */
export type ValueRule<T = unknown> = (value: T, walk: Walk) => void

/** Compiles a nested schema. */
export type CompileBelow = (schema: JSONSchemaProps) => ValueCheck

/** All walks have one shape, so that V8 compiles the checks for it. */
export const newWalk = (progress: Walk['progress'], steps: PathStep[] = []): Walk => ({
  steps,
  errors: [],
  visits: 0,
  differs: false,
  progress,
})

export const pathOf = (walk: Walk): string => formatPath(walk.steps)

/** Checks a nested value. Drops the errors of an unchanged value. */
export function checkBelow(
  step: PathStep,
  check: ValueCheck,
  values: readonly [unknown, unknown],
  walk: Walk,
): void {
  const [value, old] = values
  const { differs } = walk
  const before = walk.errors.length
  walk.differs = false
  walk.steps.push(step)
  check(value, old, walk)
  walk.steps.pop()
  if (walk.errors.length > before && old !== undefined && !walk.differs) {
    if (walk.progress().areSame(value, old)) walk.errors.length = before
    else walk.differs = true
  }
  walk.differs ||= differs
}

/** Runs all rules; undefined if there are none. */
export function allRules<T>(rules: readonly (ValueRule<T> | undefined)[]): ValueRule<T> | undefined {
  const present = rules.filter(rule => rule !== undefined)
  if (present.length <= 1) return present[0]
  return (value, walk) => {
    for (const rule of present) rule(value, walk)
  }
}

const rule =
  <T>(isGood: (value: T) => boolean, problem: (path: string, value: T) => FieldError): ValueRule<T> =>
  (value, walk) => {
    if (!isGood(value)) walk.errors.push(problem(pathOf(walk), value))
  }

/** Like Kubernetes, reports the first failure of length and pattern, and always validates the format. */
export function stringRule(schema: JSONSchemaProps): ValueRule<string> | undefined {
  const text = firstOf([
    schema.maxLength === undefined ? undefined : maxLength(schema.maxLength),
    schema.minLength === undefined ? undefined : minLength(schema.minLength),
    schema.pattern === undefined || schema.pattern === '' ? undefined : pattern(schema.pattern),
  ])
  return allRules([text, format(schema)])
}

function firstOf(rules: readonly (ValueRule<string> | undefined)[]): ValueRule<string> | undefined {
  const present = rules.filter(r => r !== undefined)
  if (present.length <= 1) return present[0]
  return (value, walk) => {
    const before = walk.errors.length
    for (const r of present) {
      r(value, walk)
      if (walk.errors.length > before) return
    }
  }
}

/** A string is at most as long in code points as in UTF-16 units. */
const maxLength = (max: number): ValueRule<string> =>
  rule(
    value => value.length <= max || codePoints(value) <= max,
    path => tooLong(path, max),
  )

const minLength = (min: number): ValueRule<string> =>
  rule(
    value => codePoints(value) >= min,
    (path, value) => invalidValue(path, value, `${path} in body should be at least ${min} chars long`),
  )

function pattern(source: string): ValueRule<string> {
  const regex = lazyPattern(source)
  return (value, walk) => {
    const result = walk.progress().match(regex, value, walk.steps)
    if (result === 'matches') return
    const path = pathOf(walk)
    const isTooLong = result === 'too long'
    const text = isTooLong ? `is too long to be matched against '${source}'` : `should match '${source}'`
    walk.errors.push(invalidValue(path, isTooLong ? '' : value, `${path} in body ${text}`))
  }
}

function format(schema: JSONSchemaProps): ValueRule<string> | undefined {
  const name = effectiveFormat(schema)
  const check = name === undefined ? undefined : formatCheck(name)
  if (check === undefined) return undefined
  return rule(check, (path, value) =>
    invalidType(path, value, `${path} in body must be of type ${name}: ${JSON.stringify(value)}`),
  )
}

type Numeric = number | bigint

export const numberRule = (schema: JSONSchemaProps): ValueRule<Numeric> | undefined =>
  allRules([
    range(schema),
    schema.multipleOf === undefined ? undefined : multipleOf(schema.multipleOf),
    minimum(schema),
    maximum(schema),
  ])

const largestFloat32 = (2 - 2 ** -23) * 2 ** 127
const fits: Readonly<Record<string, (value: Numeric) => boolean>> = {
  int32: value => value >= -(2 ** 31) && value < 2 ** 31,
  float: value => value >= -largestFloat32 && value <= largestFloat32,
}

/** Kubernetes reports this error at the root, with the path in the message. */
function range(schema: JSONSchemaProps): ValueRule<Numeric> | undefined {
  const name = effectiveFormat(schema) ?? ''
  const fitsFormat = fits[name]
  if (fitsFormat === undefined) return undefined
  return rule(fitsFormat, path =>
    invalidValue('', '', `Checked value must be of type ${schema.type} with format ${name} in ${path}`),
  )
}

/** Within the rounding error of one division, as in Kubernetes. */
function isMultiple(value: Numeric, factor: number): boolean {
  if (Number.isInteger(factor) && typeof value === 'bigint') return value % BigInt(factor) === 0n
  const quotient = factor < 1 ? (1 / factor) * Number(value) : Number(value) / factor
  const whole = Math.trunc(quotient)
  return whole === quotient || Math.abs(quotient - whole) / Math.abs(quotient + whole) < 1e-9
}

function multipleOf(factor: number): ValueRule<Numeric> {
  const printed = formatNumber(factor)
  if (factor <= 0)
    return rule(
      () => false,
      path =>
        invalidValue(path, factor, `factor MultipleOf declared for ${path} must be positive: ${printed}`),
    )
  return rule(
    value => isMultiple(value, factor),
    (path, value) => invalidValue(path, value, `${path} in body should be a multiple of ${printed}`),
  )
}

function minimum({ minimum: min, exclusiveMinimum }: JSONSchemaProps): ValueRule<Numeric> | undefined {
  if (min === undefined) return undefined
  const text = exclusiveMinimum === true ? 'greater than' : 'greater than or equal to'
  return rule(
    value => (exclusiveMinimum === true ? value > min : value >= min),
    (path, value) => invalidValue(path, value, `${path} in body should be ${text} ${formatNumber(min)}`),
  )
}

function maximum({ maximum: max, exclusiveMaximum }: JSONSchemaProps): ValueRule<Numeric> | undefined {
  if (max === undefined) return undefined
  const text = exclusiveMaximum === true ? 'less than' : 'less than or equal to'
  return rule(
    value => (exclusiveMaximum === true ? value < max : value <= max),
    (path, value) => invalidValue(path, value, `${path} in body should be ${text} ${formatNumber(max)}`),
  )
}

const printed = (value: unknown): string => (typeof value === 'string' ? value : formatJson(value))

const isCompound = (value: unknown): value is object => typeof value === 'object' && value !== null

/** Also validates null, which must be listed in the enumeration. */
export function enumRule(schema: JSONSchemaProps): ValueRule | undefined {
  const values = schema.enum ?? []
  if (values.length === 0) return undefined
  const scalars = new Set(values)
  const compounds = lazily(() => new Set(values.filter(isCompound).map(canonicalJson)))
  // A thousand errors share the text of a long list.
  const texts = lazily(() => unsupported('', '', values.map(printed)).detail)
  return rule(
    value => scalars.has(value) || (isCompound(value) && compounds().has(canonicalJson(value))),
    (path, value) => ({ ...unsupported(path, value, []), detail: texts() }),
  )
}

/** The format, if it is supported for the type (rules.md 7.24). */
function effectiveFormat({ type, format }: JSONSchemaProps): string | undefined {
  if (format === undefined || format === '') return undefined
  const known = {
    integer: format === 'int32' || format === 'int64',
    number: format === 'float' || format === 'double',
    string: formatCheck(format) !== undefined,
  }
  if (type === undefined) return known.string ? format : undefined
  return type in known && known[type as keyof typeof known] ? format : undefined
}

const typesOf = (schema: JSONSchemaProps): readonly JsonType[] => {
  if (schema['x-kubernetes-int-or-string'] === true) return ['integer', 'string']
  return schema.type === undefined ? [] : [schema.type]
}

/** The format of a number in the type errors of Kubernetes. */
const dataFormats: Readonly<Partial<Record<JsonType, string>>> = { integer: 'int64', number: 'float64' }

export function typeRule(schema: JSONSchemaProps): ValueRule | undefined {
  const types = typesOf(schema)
  if (types.length === 0) return undefined
  const format = effectiveFormat(schema)
  const expected = types.join(',')
  return (value, walk) => {
    const actual = typeOf(value)
    if (types.includes(actual) || (actual === 'integer' && types.includes('number'))) return
    if (actual === 'null' && schema.nullable === true) return
    const asFormat = format !== undefined && !['null', 'string', 'array'].includes(actual)
    const [wanted, given] = asFormat ? [format, dataFormats[actual] ?? ''] : [expected, actual]
    const path = pathOf(walk)
    walk.errors.push(invalidType(path, given, `${path} in body must be of type ${wanted}: "${given}"`))
  }
}
