import { compileExpression } from '../../../cel/compiled.ts'
import { declarationOf, type RootDeclaration } from '../../../cel/schema/schematype.ts'
import { type CelType, dynType } from '../../../cel/values/type.ts'
import type { ApiResource } from '../../../framework/contract/apis.ts'
import type { JSONSchemaProps } from '../../../framework/meta/jsonschema.ts'
import { apiVersionOf, type KubeObject } from '../../../framework/meta/object.ts'
import { wholeSchema } from '../../../framework/meta/objectmeta.ts'
import { type AdmissionVariables, admissionEnvironment } from '../../../openapi/expressions/admission.ts'
import type { Rule } from './matching.ts'
import type { PolicySpec } from './policy.ts'

/** The type errors of an expression for one kind. */
export interface ExpressionWarning {
  readonly fieldRef: string
  readonly warning: string
}

/** At most so many kinds are checked. */
const mostKinds = 10

/**
 * Checks the validations of a policy against the schemas of the kinds that its rules name. The errors are only
 * warnings in its status.
 */
export function typeWarnings(
  { spec: given }: KubeObject,
  served: readonly ApiResource[],
): readonly ExpressionWarning[] {
  const spec = (given ?? {}) as PolicySpec
  const kinds = kindsOf(spec, served).map(kind => ({ kind, compile: compilerFor(spec, kind, served) }))
  const warningAt = (fieldRef: string, source: string): readonly ExpressionWarning[] => {
    const warnings = kinds.flatMap(({ kind, compile }) => {
      const problem = compile(source)
      return problem === undefined ? [] : [`${kindText(kind)}: ${problem}\n`]
    })
    return warnings.length === 0 ? [] : [{ fieldRef, warning: warnings.join('\n') }]
  }
  return (spec.validations ?? []).flatMap(({ expression, messageExpression }, i) => [
    ...warningAt(`spec.validations[${i}].expression`, expression),
    ...(messageExpression ? warningAt(`spec.validations[${i}].messageExpression`, messageExpression) : []),
  ])
}

const kindText = ({ group, version, names }: ApiResource): string => `${group}/${version}, Kind=${names.kind}`

/** The kinds that rules name without `*`, in order. */
function kindsOf({ matchConstraints }: PolicySpec, served: readonly ApiResource[]): readonly ApiResource[] {
  const rules = matchConstraints?.resourceRules ?? []
  const found = served.filter(resource => rules.some(rule => names(rule, resource)))
  return [...found].sort((a, b) => (kindText(a) < kindText(b) ? -1 : 1)).slice(0, mostKinds)
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

const declared = ({ openapi, names: { kind } }: ApiResource): RootDeclaration | undefined =>
  declarationOf(wholeSchema(openapi) as JSONSchemaProps, false, kind)

/** The type errors of expressions for one kind. */
function compilerFor(
  { paramKind, variables = [] }: PolicySpec,
  kind: ApiResource,
  served: readonly ApiResource[],
): (source: string) => string | undefined {
  const types = new Map<string, CelType>()
  const object = declared(kind)
  const paramResource = served.find(
    ({ group, version, names }) =>
      apiVersionOf(group, version) === paramKind?.apiVersion && names.kind === paramKind.kind,
  )
  const parameters = paramResource && declared(paramResource)
  const known: AdmissionVariables = {
    params: paramKind !== undefined,
    variables: types,
    ...(object && { object }),
    ...(parameters && { parameters }),
  }
  const environment = admissionEnvironment(known)
  for (const { name, expression } of variables)
    types.set(name, compileExpression(expression, environment).type ?? dynType)
  return source => compileExpression(source, environment).problem?.replace(/^compilation failed: /, '')
}
