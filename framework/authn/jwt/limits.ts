import { listAt, textAt } from '../../json/values.ts'

/** As many as the `AuthenticationConfiguration` of Kubernetes may have. */
export const mostIssuers = 64
/** Characters of all expressions of a tenant's issuers, which are compiled in one step. */
const mostCharacters = 16_384
/** What a rule or mapping counts for besides the characters of its expression. */
const perRule = 100

const textsOf = (values: readonly unknown[], field: string): readonly string[] =>
  values.map(value => textAt(value, field))

function expressionsOf(config: unknown): readonly string[] {
  const mapping = (name: string): string => textAt(config, 'claimMappings', name, 'expression')
  return [
    ...['username', 'groups', 'uid'].map(mapping),
    ...textsOf(listAt(config, 'claimMappings', 'extra'), 'valueExpression'),
    ...textsOf(listAt(config, 'claimValidationRules'), 'expression'),
    ...textsOf(listAt(config, 'userValidationRules'), 'expression'),
  ]
}

/** Why the entries of `jwt` are too many or too large for a tenant; undefined: they are not. */
export function excessOf(jwt: unknown): string | undefined {
  const configs = Array.isArray(jwt) ? jwt : []
  if (configs.length > mostIssuers)
    return `spec.jwt: ${configs.length} issuers, at most ${mostIssuers} are allowed`
  const total = configs.flatMap(expressionsOf).reduce((sum, text) => sum + text.length + perRule, 0)
  if (total <= mostCharacters) return undefined
  return `spec.jwt: the expressions have ${total} characters (${perRule} more for each rule and mapping), at most ${mostCharacters} are allowed`
}
