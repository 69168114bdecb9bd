import type { FieldError } from '../../../framework/meta/errors.ts'
import { invalidValue, repeated, required, tooMany, unsupported } from '../../../framework/meta/fielderror.ts'
import { qualifiedNameErrors } from '../../../framework/meta/names.ts'
import { selectorErrors } from '../../../kcp/selector.ts'
import type { MatchSelectors, Rule } from './matching.ts'

export const oneOf = (
  path: string,
  value: string | undefined,
  values: readonly string[],
): readonly FieldError[] =>
  value === undefined || values.includes(value) ? [] : [unsupported(path, value, values)]

export const operations = ['*', 'CONNECT', 'CREATE', 'DELETE', 'UPDATE']

/** Each part of a rule is required, and `*` has to be the only entry. */
export function ruleErrors(rule: Rule, path: string): readonly FieldError[] {
  const { operations: wanted = [] } = rule
  const parts = ['operations', 'apiGroups', 'apiVersions', 'resources'] as const
  const starred = parts.slice(0, 3).filter(part => (rule[part]?.length ?? 0) > 1 && rule[part]?.includes('*'))
  return [
    ...parts.filter(part => !rule[part]?.length).map(part => required(`${path}.${part}`)),
    ...starred.map(part => {
      const others = part === 'apiGroups' ? 'API groups' : part === 'apiVersions' ? 'API versions' : part
      return invalidValue(
        `${path}.${part}`,
        rule[part],
        `if '*' is present, must not specify other ${others}`,
      )
    }),
    ...wanted.flatMap((operation, i) => oneOf(`${path}.operations[${i}]`, operation, operations)),
    ...oneOf(`${path}.scope`, rule.scope, ['*', 'Cluster', 'Namespaced']),
  ]
}

/** Errors of the selectors of a webhook or policy. */
export const matchSelectorErrors = (
  { namespaceSelector = {}, objectSelector = {} }: MatchSelectors,
  path: string,
): readonly FieldError[] => [
  ...selectorErrors(namespaceSelector, `${path}.namespaceSelector`),
  ...selectorErrors(objectSelector, `${path}.objectSelector`),
]

const mostConditions = 64

/** Errors of match conditions except those of their expressions. */
export function conditionErrors(
  conditions: readonly { readonly name?: string }[] = [],
  path: string,
): readonly FieldError[] {
  const at = (i: number): string => `${path}[${i}].name`
  const names = conditions.map(({ name = '' }) => name)
  return [
    ...(names.length > mostConditions ? [tooMany(path, names.length, mostConditions)] : []),
    ...names.flatMap((name, i) =>
      name === ''
        ? [required(at(i))]
        : qualifiedNameErrors(name).map(problem => invalidValue(at(i), name, problem)),
    ),
    ...repeated(names, at).filter(({ value }) => value !== ''),
  ]
}
