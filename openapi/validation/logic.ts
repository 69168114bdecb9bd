import { append } from '../../framework/json/values.ts'
import type { FieldError } from '../../framework/meta/errors.ts'
import { invalidValue } from '../../framework/meta/fielderror.ts'
import type { JSONSchemaProps } from '../../framework/meta/jsonschema.ts'
import type { Attempt, ValidationProgress } from './progress.ts'
import { type CompileBelow, isFull, newWalk, pathOf, type ValueCheck, type Walk } from './validation.ts'

type Values = readonly [value: unknown, old: unknown]

function attempt(check: ValueCheck, [value, old]: Values, walk: Walk): Attempt {
  const progress = walk.progress()
  const made = progress.known(check) ?? attempted(check, [value, old], walk, progress)
  walk.visits += made.visits
  return made
}

function attempted(
  check: ValueCheck,
  [value, old]: Values,
  { steps, progress }: Walk,
  kept: ValidationProgress,
): Attempt {
  const begun = kept.begins()
  const own = newWalk(progress, steps)
  check(value, old, own)
  kept.ends(check, begun, own, steps)
  return own
}

/** Kubernetes reports these errors at the root, with the path in the message. */
const problem = (walk: Walk, text: string): FieldError => invalidValue('', '', `"${pathOf(walk)}" ${text}`)

/** The first of the failed attempts with most visits, whose errors Kubernetes reports. Of the others one error is kept. */
function closer(best: Attempt | undefined, next: Attempt): Attempt {
  if (best === undefined) return next
  const [kept, dropped] = next.visits > best.visits ? [next, best] : [best, next]
  dropped.errors.length = 1
  return kept
}

/** Validates `anyOf`, `oneOf`, `allOf` and `not`, in the order of Kubernetes. */
export function logicCheck(schema: JSONSchemaProps, compile: CompileBelow): ValueCheck | undefined {
  const checks = [
    schema.anyOf?.length ? anyOf(schema.anyOf.map(compile)) : undefined,
    schema.oneOf?.length ? oneOf(schema.oneOf.map(compile)) : undefined,
    schema.allOf?.length ? allOf(schema.allOf.map(compile)) : undefined,
    schema.not === undefined ? undefined : not(compile(schema.not)),
  ].filter(check => check !== undefined)
  if (checks.length === 0) return undefined
  const all: ValueCheck = (value, old, walk) => {
    for (const check of checks) check(value, old, walk)
  }
  // Its result is kept, and those of the alternatives are not any more.
  return (value, old, walk) => append(walk.errors, attempt(all, [value, old], walk).errors)
}

const anyOf =
  (alternatives: readonly ValueCheck[]): ValueCheck =>
  (value, old, walk) => {
    let best: Attempt | undefined
    for (const alternative of alternatives) {
      const result = attempt(alternative, [value, old], walk)
      if (result.errors.length === 0) return
      best = closer(best, result)
    }
    walk.errors.push(problem(walk, 'must validate at least one schema (anyOf)'))
    append(walk.errors, best?.errors ?? [])
  }

const oneOf =
  (alternatives: readonly ValueCheck[]): ValueCheck =>
  (value, old, walk) => {
    let valid = 0
    let best: Attempt | undefined
    for (const alternative of alternatives) {
      const result = attempt(alternative, [value, old], walk)
      if (result.errors.length === 0) valid++
      else best = closer(best, result)
    }
    if (valid === 1) return
    const found = valid === 0 ? 'Found none valid' : `Found ${valid} valid alternatives`
    walk.errors.push(problem(walk, `must validate one and only one schema (oneOf). ${found}`))
    if (valid === 0) append(walk.errors, best?.errors ?? [])
  }

const allOf =
  (parts: readonly ValueCheck[]): ValueCheck =>
  (value, old, walk) => {
    let failed = 0
    for (const part of parts) {
      const { errors } = attempt(part, [value, old], walk)
      if (errors.length === 0) continue
      failed++
      if (isFull(walk)) errors.length = 1
      else append(walk.errors, errors)
    }
    if (failed === 0) return
    const none = failed === parts.length ? '. None validated' : ''
    walk.errors.push(problem(walk, `must validate all the schemas (allOf)${none}`))
  }

const not =
  (check: ValueCheck): ValueCheck =>
  (value, old, walk) => {
    if (attempt(check, [value, old], walk).errors.length === 0)
      walk.errors.push(problem(walk, 'must not validate the schema (not)'))
  }
