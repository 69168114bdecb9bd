import { expressionLength, mostExpressionCharacters, perExpression } from '../../formats/expressionlength.ts'
import { listAt, textAt } from '../../json/values.ts'

/** As many as the `AuthenticationConfiguration` of Kubernetes may have. */
export const mostIssuers = 64

const textsOf = (values: readonly unknown[], field: string): readonly string[] =>
  values.map(value => textAt(value, field))

function expressionsOf(config: unknown): readonly string[] {
  const mapping = (name: string): string => textAt(config, 'claimMappings', name, 'expression')
  return [
    ...['username', 'groups', 'uid'].map(mapping).filter(text => text !== ''),
    ...textsOf(listAt(config, 'claimMappings', 'extra'), 'valueExpression'),
    ...textsOf(listAt(config, 'claimValidationRules'), 'expression'),
    ...textsOf(listAt(config, 'userValidationRules'), 'expression'),
  ]
}

/** Of all issuers of a configuration together. */
const mostAudiences = 1_000

/** What compiled expressions take for each character, in bytes. */
const bytesPerCharacter = 80

/** Bytes that the compiled rules of an issuer take: about as many, or more. */
export const bytesOfRules = (config: unknown): number =>
  JSON.stringify(config).length + bytesPerCharacter * expressionLength(expressionsOf(config)) + 1_024

/** Why the entries of `jwt` are too many or too large for a tenant; undefined: they are not. */
export function excessOf(jwt: unknown): string | undefined {
  const configs = Array.isArray(jwt) ? jwt : []
  if (configs.length > mostIssuers)
    return `spec.jwt: ${configs.length} issuers, at most ${mostIssuers} are allowed`
  const audiences = configs.reduce((sum, config) => sum + listAt(config, 'issuer', 'audiences').length, 0)
  if (audiences > mostAudiences)
    return `spec.jwt: ${audiences} audiences, at most ${mostAudiences} are allowed`
  const total = expressionLength(configs.flatMap(expressionsOf))
  if (total <= mostExpressionCharacters) return undefined
  return `spec.jwt: the expressions have ${total} characters (${perExpression} more for each rule and mapping), at most ${mostExpressionCharacters} are allowed`
}
