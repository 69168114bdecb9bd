import type { ClusterName } from '../../meta/object.ts'
import { clusterNameKey, credentialKey, scopeOf, scopesKey, type UserInfo } from '../../request/user.ts'
import { authenticated } from '../authentication.ts'
import { type Claims, isTexts } from '../jwt.ts'
import { TokenError } from '../token.ts'
import type { ClaimsBudget, ClaimsExpression } from './config.ts'
import type { CompiledTokenRule, JwtRules } from './rules.ts'

/** Evaluates an expression with the claims, or with the user; `what` is its name in errors. Rejects with `TokenError`. */
type Evaluate = (expression: ClaimsExpression, value: unknown, what: string) => Promise<unknown>

/**
 * The user of verified claims, by the rules of their issuer. Rejects with `TokenError` if a rule fails
 * (`apiserver/plugin/pkg/authenticator/token/oidc`).
 */
export async function userOfClaims(rules: JwtRules, claims: Claims, budget: ClaimsBudget): Promise<UserInfo> {
  const evaluate = evaluation(budget)
  const name = await usernameOf(rules, claims, evaluate)
  const uid = await uidOf(rules, claims, evaluate)
  const extra = await extraOf(rules, claims, evaluate)
  const groups = await groupsOf(rules, claims, evaluate)
  const user = { username: name, uid, groups, extra }
  checkLength(user)
  checkRequired(rules, claims)
  for (const rule of rules.claimRules) await check(rule, claims, 'claim validation expression', evaluate)
  for (const rule of rules.userRules) await check(rule, user, 'user info validation rule', evaluate)
  return authenticated({
    name,
    groups,
    ...(uid === '' ? {} : { uid }),
    ...(Object.keys(extra).length === 0 ? {} : { extra }),
  })
}

const failure = (why: string): TokenError => new TokenError(`oidc: ${why}`)

const evaluation =
  (budget: ClaimsBudget): Evaluate =>
  async (expression, value, what) => {
    try {
      return await expression.evaluate(value, budget)
    } catch (error) {
      throw failure(`error evaluating ${what}: ${(error as Error).message}`)
    }
  }

function text(claims: Claims, claim: string, what: string): string {
  const value = claims[claim]
  if (value === undefined) throw failure(`parse ${what} ${JSON.stringify(claim)}: claim not present`)
  if (typeof value !== 'string') throw failure(`parse ${what} ${JSON.stringify(claim)}: not a string`)
  return value
}

async function usernameOf(
  { config, username }: JwtRules,
  claims: Claims,
  evaluate: Evaluate,
): Promise<string> {
  if (username !== undefined) {
    const name = await evaluate(username, claims, 'username claim expression')
    if (typeof name !== 'string') throw failure('username claim expression must return a string')
    if (name === '') throw failure('empty username via CEL expression is not allowed')
    return name
  }
  const { claim = '', prefix = '' } = config.claimMappings.username
  const name = text(claims, claim, 'username claims')
  const { email_verified: verified = true } = claims
  if (claim === 'email' && verified !== true) throw failure('email not verified')
  return prefix + name
}

async function groupsOf(
  { config, groups }: JwtRules,
  claims: Claims,
  evaluate: Evaluate,
): Promise<readonly string[]> {
  if (groups !== undefined)
    return texts(await evaluate(groups, claims, 'group claim expression'), 'group claim expression')
  const { claim = '', prefix = '' } = config.claimMappings.groups ?? {}
  const value = claim === '' ? undefined : claims[claim]
  if (value === undefined) return []
  const found = typeof value === 'string' ? [value] : value
  if (!isTexts(found)) throw failure(`parse groups claim ${JSON.stringify(claim)}: not a list of strings`)
  return found.map(group => prefix + group)
}

async function uidOf({ config, uid }: JwtRules, claims: Claims, evaluate: Evaluate): Promise<string> {
  if (uid !== undefined) {
    const value = await evaluate(uid, claims, 'uid claim expression')
    if (typeof value !== 'string') throw failure('uid claim expression must return a string')
    return value
  }
  const claim = config.claimMappings.uid?.claim
  return claim ? text(claims, claim, 'uid claim') : ''
}

async function extraOf(
  { extra }: JwtRules,
  claims: Claims,
  evaluate: Evaluate,
): Promise<Record<string, readonly string[]>> {
  const found: Record<string, readonly string[]> = {}
  if (typeof claims.jti === 'string' && claims.jti !== '') found[credentialKey] = [`JTI=${claims.jti}`]
  for (const { key, values } of extra) {
    const given = texts(await evaluate(values, claims, 'extra claim expression'), 'extra claim expression')
    if (given.length > 0) found[key] = given
  }
  return found
}

/** A string or a list of strings, without empty ones. */
function texts(value: unknown, what: string): readonly string[] {
  if (value === null) return []
  const found = typeof value === 'string' ? [value] : value
  if (!isTexts(found))
    throw failure(`error evaluating ${what}: expression must return a string or a list of strings`)
  return found.filter(entry => entry !== '')
}

function checkRequired({ config }: JwtRules, claims: Claims): void {
  for (const { claim, requiredValue = '' } of config.claimValidationRules ?? []) {
    if (!claim) continue
    if (claims[claim] === undefined) throw failure(`required claim ${claim} not present in ID token`)
    if (text(claims, claim, 'claim') !== requiredValue)
      throw failure(`required claim ${claim} value does not match`)
  }
}

async function check(
  { expression, message, holds }: CompiledTokenRule,
  value: unknown,
  what: string,
  evaluate: Evaluate,
): Promise<void> {
  const outcome = await evaluate(holds, value, what)
  if (typeof outcome !== 'boolean')
    throw failure(`error evaluating ${what}: validation expression must return a boolean`)
  if (!outcome)
    throw failure(`error evaluating ${what}: validation expression '${expression}' failed: ${message}`)
}

interface MappedUser {
  readonly username: string
  readonly uid: string
  readonly groups: readonly string[]
  readonly extra: Readonly<Record<string, readonly string[]>>
}

/** Characters of a user, whose claims have 48 Ki at most. Prefixes and expressions could make gigabytes of them. */
const longestUser = 128 * 1024

function checkLength({ username, uid, groups, extra }: MappedUser): void {
  const texts = [[username, uid], groups, ...Object.values(extra)]
  const length = texts.reduce((sum, some) => some.reduce((total, text) => total + text.length, sum), 0)
  if (length > longestUser)
    throw failure(`the user has ${length} characters, at most ${longestUser} are allowed`)
}

const isSystem = (name: string): boolean => name.startsWith('system:')

/** Removes system groups; throws `TokenError` for a system user name: issuers must not assert these. */
export function withoutSystem(user: UserInfo): UserInfo {
  if (isSystem(user.name)) throw new TokenError('system usernames are not admitted')
  const groups = [...new Set(user.groups)].filter(group => !isSystem(group)).toSorted()
  return authenticated({ ...user, groups })
}

/**
 * A user of one workspace: without system groups and extra of kcp, scoped to the logical cluster of the request (kcp
 * `pkg/proxy/authentication`, per-workspace authentication).
 */
export function ofWorkspace(user: UserInfo, cluster: ClusterName): UserInfo {
  const { extra = {}, ...rest } = withoutSystem(user)
  const own = Object.entries(extra).filter(([key]) => !key.toLowerCase().includes('kcp.io'))
  const where = { [scopesKey]: [scopeOf(cluster)], [clusterNameKey]: [cluster] }
  return Object.freeze({ ...rest, extra: { ...Object.fromEntries(own), ...where } })
}
