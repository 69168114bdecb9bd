import { fieldErrorText } from '../../errors.ts'
import { parseYaml } from '../../yaml.ts'
import { isObject } from '../jwt.ts'
import type { TokenReader } from '../token.ts'
import type { ExpressionCompiler, JwtConfig } from './config.ts'
import { withoutSystem } from './filters.ts'
import { isIssuedBy, type JwtIssuer, jwtIssuer } from './jwttokens.ts'
import { checkRules } from './rules.ts'
import { type Shape, unknownFields } from './shape.ts'

export interface AuthenticationConfigOptions {
  readonly compiler: ExpressionCompiler
  /** Issuers that are the server itself. */
  readonly forbidden: readonly string[]
}

const versions = ['v1', 'v1beta1', 'v1alpha1'].map(version => `apiserver.config.k8s.io/${version}`)
const most = 64

/**
 * The issuers of an `AuthenticationConfiguration` file, as Kubernetes reads it. Throws an `Error` that says everything
 * that is wrong with it.
 */
export function readAuthenticationConfig(
  yaml: string,
  options: AuthenticationConfigOptions,
): readonly JwtIssuer[] {
  const { value, duplicates } = parseYaml(yaml)
  if (
    !isObject(value) ||
    value.kind !== 'AuthenticationConfiguration' ||
    !versions.includes(String(value.apiVersion))
  )
    throw new Error(`it is no AuthenticationConfiguration of ${versions[0]}`)
  const unknown = [...duplicates, ...unknownFields(value, file)]
  if (unknown.length > 0) throw new Error(unknown.join(', '))
  return issuersOf((value.jwt ?? []) as readonly JwtConfig[], options)
}

function issuersOf(
  configs: readonly JwtConfig[],
  { compiler, forbidden }: AuthenticationConfigOptions,
): readonly JwtIssuer[] {
  if (configs.length > most)
    throw new Error(`jwt: Too many: ${configs.length}: must have at most ${most} items`)
  const urls = configs.map(({ issuer }) => issuer?.url)
  const checked = configs.map((config, i) => checkRules(config, `jwt[${i}]`, compiler, forbidden))
  const errors = checked.flatMap((one, i) => {
    const again = urls.indexOf(urls[i] ?? '') < i
    return [
      ...one.errors.map(fieldErrorText),
      ...(again ? [`jwt[${i}].issuer.url: Duplicate value: ${JSON.stringify(urls[i])}`] : []),
    ]
  })
  if (errors.length > 0) throw new Error(errors.join(', '))
  return checked.map(({ rules }) => jwtIssuer({ rules }))
}

/** Users by tokens of these issuers, in every logical cluster. `trusted`: they may name users and groups of the system. */
export const jwtTokens =
  (issuers: () => readonly JwtIssuer[], trusted: boolean): TokenReader =>
  async token => {
    const issuer = issuers().find(({ url }) => isIssuedBy(token, url))
    if (issuer === undefined) return undefined
    const user = await issuer.userOf(token)
    return { user: trusted ? user : withoutSystem(user) }
  }

const text: Shape = 'string'
const claimOrExpression: Shape = { claim: text, expression: text }
const prefixedClaim: Shape = { claim: text, expression: text, prefix: text }

/** The fields of the file: a misspelled one would silently loosen who gets in. */
const file: Shape = {
  apiVersion: text,
  kind: text,
  jwt: [
    {
      issuer: {
        url: text,
        discoveryURL: text,
        certificateAuthority: text,
        audiences: [text],
        audienceMatchPolicy: text,
      },
      claimMappings: {
        username: prefixedClaim,
        groups: prefixedClaim,
        uid: claimOrExpression,
        extra: [{ key: text, valueExpression: text }],
      },
      claimValidationRules: [{ claim: text, requiredValue: text, expression: text, message: text }],
      userValidationRules: [{ expression: text, message: text }],
    },
  ],
}
