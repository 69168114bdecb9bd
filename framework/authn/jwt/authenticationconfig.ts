import { isDeepStrictEqual } from 'node:util'
import { fieldErrorText } from '../../meta/errors.ts'
import { parseYaml } from '../../wire/yaml.ts'
import { isObject, unverifiedClaims } from '../jwt.ts'
import type { BearerTokenReader } from '../token.ts'
import { withoutSystem } from './claims.ts'
import type { ExpressionCompiler, JwtConfig } from './config.ts'
import { type JwtIssuer, jwtIssuer } from './jwttokens.ts'
import { mostIssuers } from './limits.ts'
import { checkRules } from './rules.ts'
import { type ConfigShape, jwtShape, unknownFields } from './shape.ts'

export interface AuthenticationConfigOptions {
  readonly compiler: ExpressionCompiler
  /** The issuers of the server itself. */
  readonly forbidden: readonly string[]
  /** Accepted algorithms; default: `signingAlgorithms`. */
  readonly algorithms?: readonly string[]
  /** Issuers that stay, with their keys, where the entry is the same. */
  readonly before?: readonly JwtIssuer[]
}

const versions = ['v1', 'v1beta1', 'v1alpha1'].map(version => `apiserver.config.k8s.io/${version}`)

/** A decoded `AuthenticationConfiguration`. */
export interface AuthenticationConfig {
  readonly issuers: readonly JwtIssuer[]
  /** Absent if it is not set. */
  readonly anonymous?: AnonymousConfig
}

/** Whether requests without credentials are accepted. */
export interface AnonymousConfig {
  readonly enabled: boolean
  /** The paths; all paths if absent. */
  readonly conditions?: readonly { readonly path: string }[]
}

/**
 * Decodes an `AuthenticationConfiguration` file (`apiserver/pkg/apis/apiserver/validation`). Throws an `Error` with all
 * of its problems.
 */
export function readAuthenticationConfig(
  yaml: string,
  options: AuthenticationConfigOptions,
): AuthenticationConfig {
  const { value, duplicates } = parseYaml(yaml)
  if (
    !isObject(value) ||
    value.kind !== 'AuthenticationConfiguration' ||
    !versions.includes(String(value.apiVersion))
  )
    throw new Error(`expected an AuthenticationConfiguration of ${versions[0]}`)
  const unknown = [...duplicates, ...unknownFields(value, file)]
  if (unknown.length > 0) throw new Error(unknown.join(', '))
  const anonymous = anonymousIn(value.anonymous)
  const issuers = issuersOf((value.jwt ?? []) as readonly JwtConfig[], options)
  return { issuers, ...(anonymous && { anonymous }) }
}

function anonymousIn(value: unknown): AnonymousConfig | undefined {
  if (!isObject(value)) return undefined
  const { enabled = false, conditions = [] } = value as Partial<AnonymousConfig>
  const field = 'anonymous.conditions'
  if (!enabled && conditions.length > 0)
    throw new Error(`${field}: Invalid value: enabled should be set to true when conditions are defined`)
  conditions.forEach(({ path }, i) => {
    if (!path?.startsWith('/'))
      throw new Error(`${field}[${i}].path: Invalid value: ${JSON.stringify(path)}: must begin with /`)
  })
  return { enabled, ...(conditions.length > 0 && { conditions }) }
}

/** The issuers of the entries of `jwt`. Throws an `Error` with all of their problems. */
export function issuersOf(
  configs: readonly JwtConfig[],
  { compiler, forbidden, algorithms, before = [] }: AuthenticationConfigOptions,
): readonly JwtIssuer[] {
  if (configs.length > mostIssuers)
    throw new Error(`jwt: Too many: ${configs.length}: must have at most ${mostIssuers} items`)
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
  return checked.map(
    ({ rules }) =>
      before.find(({ config }) => isDeepStrictEqual(config, rules.config)) ??
      jwtIssuer({ rules, ...(algorithms && { algorithms }) }),
  )
}

/** Users by tokens of these issuers, in all logical clusters. `trusted`: system users and groups are accepted. */
export const jwtTokens =
  (issuers: () => readonly JwtIssuer[], trusted: boolean): BearerTokenReader =>
  async token => {
    const named = unverifiedClaims(token)?.iss
    const issuer = issuers().find(({ url }) => url === named)
    if (issuer === undefined) return undefined
    const user = await issuer.userOf(token)
    return { user: trusted ? user : withoutSystem(user) }
  }

/** The fields of the file. Unknown fields are errors: a misspelled field could weaken authentication. */
const file: ConfigShape = {
  apiVersion: 'string',
  kind: 'string',
  anonymous: { enabled: 'boolean', conditions: [{ path: 'string' }] },
  jwt: [jwtShape],
}
