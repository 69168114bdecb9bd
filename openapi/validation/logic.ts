import type { FieldError } from '../../framework/meta/errors.ts'
import { invalidValue } from '../../framework/meta/fielderror.ts'
import type { JSONSchemaProps } from '../../framework/meta/jsonschema.ts'
import { type CompileBelow, pathOf, type ValueCheck, type Walk } from './validation.ts'

/** The result of one alternative. */
interface Attempt {
  readonly errors: readonly FieldError[]
  readonly visits: number
}

type Values = readonly [value: unknown, old: unknown]

function attempt(check: ValueCheck, [value, old]: Values, walk: Walk): Attempt {
  const own: Walk = { steps: walk.steps, errors: [], visits: 0, matching: walk.matching }
  check(value, old, own)
  walk.visits += own.visits
  return own
}

/** Kubernetes reports these errors at the root, with the path in the message. */
const problem = (walk: Walk, text: string): FieldError => invalidValue('', '', `"${pathOf(walk)}" ${text}`)

/** The first of the attempts with most visits, whose errors Kubernetes reports. */
const closest = (attempts: readonly Attempt[]): Attempt | undefined =>
  attempts.reduce<Attempt | undefined>(
    (best, a) => (best === undefined || a.visits > best.visits ? a : best),
    undefined,
  )

/** Validates `anyOf`, `oneOf`, `allOf` and `not`, in the order of Kubernetes. */
export function logicCheck(schema: JSONSchemaProps, compile: CompileBelow): ValueCheck | undefined {
  const checks = [
    schema.anyOf?.length ? anyOf(schema.anyOf.map(compile)) : undefined,
    schema.oneOf?.length ? oneOf(schema.oneOf.map(compile)) : undefined,
    schema.allOf?.length ? allOf(schema.allOf.map(compile)) : undefined,
    schema.not === undefined ? undefined : not(compile(schema.not)),
  ].filter(check => check !== undefined)
  if (checks.length <= 1) return checks[0]
  return (value, old, walk) => {
    for (const check of checks) check(value, old, walk)
  }
}

const anyOf =
  (alternatives: readonly ValueCheck[]): ValueCheck =>
  (value, old, walk) => {
    const failed: Attempt[] = []
    for (const alternative of alternatives) {
      const result = attempt(alternative, [value, old], walk)
      if (result.errors.length === 0) return
      failed.push(result)
    }
    walk.errors.push(problem(walk, 'must validate at least one schema (anyOf)'))
    walk.errors.push(...(closest(failed)?.errors ?? []))
  }

const oneOf =
  (alternatives: readonly ValueCheck[]): ValueCheck =>
  (value, old, walk) => {
    const results = alternatives.map(alternative => attempt(alternative, [value, old], walk))
    const failed = results.filter(result => result.errors.length > 0)
    const valid = results.length - failed.length
    if (valid === 1) return
    const found = valid === 0 ? 'Found none valid' : `Found ${valid} valid alternatives`
    walk.errors.push(problem(walk, `must validate one and only one schema (oneOf). ${found}`))
    if (valid === 0) walk.errors.push(...(closest(failed)?.errors ?? []))
  }

const allOf =
  (parts: readonly ValueCheck[]): ValueCheck =>
  (value, old, walk) => {
    const failed = parts
      .map(part => attempt(part, [value, old], walk))
      .filter(result => result.errors.length > 0)
    if (failed.length === 0) return
    walk.errors.push(...failed.flatMap(result => result.errors))
    const none = failed.length === parts.length ? '. None validated' : ''
    walk.errors.push(problem(walk, `must validate all the schemas (allOf)${none}`))
  }

const not =
  (check: ValueCheck): ValueCheck =>
  (value, old, walk) => {
    if (attempt(check, [value, old], walk).errors.length === 0)
      walk.errors.push(problem(walk, 'must not validate the schema (not)'))
  }
