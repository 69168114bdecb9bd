import { compileExpression } from '../../../cel/compiled.ts'
import { declarationSteps } from '../../../cel/schema/schematype.ts'
import { type CelType, dynType } from '../../../cel/values/type.ts'
import type { ApiResource } from '../../../framework/contract/apis.ts'
import { append } from '../../../framework/json/values.ts'
import type { JSONSchemaProps } from '../../../framework/meta/jsonschema.ts'
import { apiVersionOf, type KubeObject } from '../../../framework/meta/object.ts'
import { wholeSchema } from '../../../framework/meta/objectmeta.ts'
import { type AdmissionVariables, admissionEnvironment } from '../../../openapi/expressions/admission.ts'
import type { Rule } from './matching.ts'
import { each, type PolicySpec } from './policy.ts'

/** The type errors of an expression for one kind. */
export interface ExpressionWarning {
  readonly fieldRef: string
  readonly warning: string
}

/** At most so many kinds are checked. */
const mostKinds = 10

/**
 * Checks the validations of a policy against the schemas of the kinds that its rules name, one expression in a step. The errors are
 * only warnings in its status.
 */
export function* typeWarnings(
  { spec: given }: KubeObject,
  served: readonly ApiResource[],
): Generator<void, readonly ExpressionWarning[]> {
  const spec = (given ?? {}) as PolicySpec
  const compilers: KindCompiler[] = []
  for (const kind of yield* kindsOf(spec, served)) compilers.push(yield* compilerFor(spec, kind, served))
  const found: ExpressionWarning[] = []
  for (const [i, { expression, messageExpression }] of (spec.validations ?? []).entries()) {
    const at = `spec.validations[${i}]`
    append(found, yield* warningsAt(`${at}.expression`, expression, compilers))
    if (messageExpression)
      append(found, yield* warningsAt(`${at}.messageExpression`, messageExpression, compilers))
  }
  return found
}

/** The problem of an expression for one kind. */
type KindCompiler = (source: string) => Generator<void, string | undefined>

function* warningsAt(
  fieldRef: string,
  source: string,
  compilers: readonly KindCompiler[],
): Generator<void, readonly ExpressionWarning[]> {
  const problems = (yield* each(compilers, compile => compile(source))).filter(
    problem => problem !== undefined,
  )
  return problems.length === 0 ? [] : [{ fieldRef, warning: problems.join('\n') }]
}

const kindText = ({ group, version, names }: ApiResource): string => `${group}/${version}, Kind=${names.kind}`

/** The kinds that rules name without `*`, in order. */
function* kindsOf(
  { matchConstraints }: PolicySpec,
  served: readonly ApiResource[],
): Generator<void, readonly ApiResource[]> {
  const rules = matchConstraints?.resourceRules ?? []
  const named: ApiResource[] = []
  for (const resource of served) {
    if (rules.some(rule => names(rule, resource))) named.push(resource)
    yield
  }
  return named.sort((a, b) => (kindText(a) < kindText(b) ? -1 : 1)).slice(0, mostKinds)
}

const hasStar = (list: readonly string[] = []): boolean => list.some(entry => entry.includes('*'))

function names(
  { apiGroups, apiVersions, resources }: Rule,
  { group, version, names: { plural } }: ApiResource,
): boolean {
  if (hasStar(apiGroups) || hasStar(apiVersions)) return false
  return (
    apiGroups?.includes(group) === true &&
    apiVersions?.includes(version) === true &&
    resources?.includes(plural) === true
  )
}

const declared = ({ openapi, names: { kind } }: ApiResource): ReturnType<typeof declarationSteps> =>
  declarationSteps(wholeSchema(openapi) as JSONSchemaProps, kind)

/** The type errors of expressions for one kind. */
function* compilerFor(
  { paramKind, variables = [] }: PolicySpec,
  kind: ApiResource,
  served: readonly ApiResource[],
): Generator<void, KindCompiler> {
  const types = new Map<string, CelType>()
  const object = yield* declared(kind)
  const paramResource = served.find(
    ({ group, version, names }) =>
      apiVersionOf(group, version) === paramKind?.apiVersion && names.kind === paramKind.kind,
  )
  const parameters = paramResource && (yield* declared(paramResource))
  const known: AdmissionVariables = {
    params: paramKind !== undefined,
    variables: types,
    ...(object && { object }),
    ...(parameters && { parameters }),
  }
  const environment = admissionEnvironment(known)
  for (const { name, expression } of variables) {
    types.set(name, (yield* compileExpression(expression, environment)).type ?? dynType)
    yield
  }
  return function* (source) {
    const { problem } = yield* compileExpression(source, environment)
    return problem && `${kindText(kind)}: ${problem.replace(/^compilation failed: /, '')}\n`
  }
}
