import type { webcrypto } from 'node:crypto'
import type { JWTVerifyGetKey, JWTVerifyOptions } from 'jose'
import type { AddressPolicy } from '../../net/addresspolicy.ts'
import type { UserInfo } from '../../request/user.ts'
import { audiencesIn, type Claims } from '../jwt.ts'
import { TokenError } from '../token.ts'
import { createVerdicts, type TokenVerdict, type TokenVerdicts } from '../verdicts.ts'
import { userOfClaims } from './claims.ts'
import { type ClaimsBudget, type JwtConfig, signingAlgorithms } from './config.ts'
import { brief, passOn } from './failures.ts'
import { type InSeat, type IssuerKeys, issuerKeys, type KeptKeys, type KnownKeys } from './issuerkeys.ts'
import type { JwtRules } from './rules.ts'

/** What is left for one token, whichever issuers are asked about it. */
export interface TokenBudget {
  readonly claims: ClaimsBudget
  /** Keys with which it is verified: each takes up to two milliseconds. */
  keys: number
  /** Who sent it, see `TokenUse`. */
  readonly source: string
}

/** A tenant's issuer can have a hundred keys, also with one ID. */
const mostKeys = 20

export const newTokenBudget = ({ newBudget }: Pick<JwtRules, 'newBudget'>, source = ''): TokenBudget => ({
  claims: newBudget(),
  keys: mostKeys,
  source,
})

/** The users of one issuer. */
export interface JwtIssuer {
  readonly url: string
  readonly config: JwtConfig
  /** `budget`: that of the token, with which other issuers were asked before. Rejects with `TokenError`, and what `InSeat` throws. */
  userOf(token: string, budget?: TokenBudget): Promise<UserInfo>
  /** Fetches the keys before the first token. Never rejects. */
  prepare(): Promise<void>
}

export interface JwtIssuerOptions {
  readonly rules: JwtRules
  /** Where it may be; anywhere when absent. */
  readonly addresses?: AddressPolicy
  readonly cooldown?: number
  /** The keys of several issuers; default: of this one. */
  readonly kept?: KeptKeys
  /** When the issuer is requested; default: at once. */
  readonly inSeat?: InSeat
  /** Accepted algorithms; default: `signingAlgorithms`. */
  readonly algorithms?: readonly string[]
  /** The cached results; default: a cache of its own. */
  readonly verdicts?: TokenVerdicts<UserInfo>
}

/** Accepted clock difference in seconds for `nbf`; none for `exp`. */
const leeway = 300
/** Milliseconds for which results are cached, as in Kubernetes: a token of a revoked key is accepted that long. */
const longest = 10_000

export const jwtVerdicts = (): TokenVerdicts<UserInfo> => createVerdicts(longest)

export function jwtIssuer({
  rules,
  algorithms = signingAlgorithms,
  verdicts = jwtVerdicts(),
  ...more
}: JwtIssuerOptions): JwtIssuer {
  const { issuer } = rules.config
  const known = issuerKeys({ issuer, ...more })
  const audiences = new Set(issuer.audiences)
  return {
    url: issuer.url,
    config: rules.config,
    userOf: (token, budget = newTokenBudget(rules)) =>
      verdicts.of(token, () => judge({ rules, algorithms, known, audiences, budget }, token)),
    prepare: () =>
      known.keys('').then(
        () => undefined,
        () => undefined,
      ),
  }
}

interface Judging {
  readonly rules: JwtRules
  readonly algorithms: readonly string[]
  readonly known: IssuerKeys
  readonly audiences: ReadonlySet<string>
  readonly budget: TokenBudget
}

async function judge(judging: Judging, token: string): Promise<TokenVerdict<UserInfo>> {
  const claims = await verified(judging, token)
  // The library compares each audience of the token with each of the issuer, in one step.
  if (!audiencesIn(claims).some(audience => judging.audiences.has(audience)))
    throw new TokenError('oidc: verify token: unexpected "aud" claim value')
  const expires = Number(claims.exp) * 1000
  if (expires <= Date.now()) throw new TokenError('oidc: verify token: oidc: token is expired')
  return { value: await userOfClaims(judging.rules, claims, judging.budget.claims), expires }
}

async function verified(judging: Judging, token: string): Promise<Claims> {
  const { known, budget } = judging
  if (budget.keys === 0) throw new TokenError(`oidc: verify token: not valid with ${mostKeys} keys`)
  try {
    const keys = await known.keys(budget.source)
    return await verifiedWith(judging, keys, token).catch(async error => {
      const newer = isUnverified(error) && budget.keys > 0 ? await keys.newer() : undefined
      if (newer === undefined) throw error
      return verifiedWith(judging, newer, token)
    })
  } catch (error) {
    passOn(error)
    if (error instanceof TokenError) throw error
    throw new TokenError(`oidc: verify token: ${brief((error as Error).message ?? 'unreadable')}`)
  }
}

const severalKeys = 'ERR_JWKS_MULTIPLE_MATCHING_KEYS'
const unverified = ['ERR_JWKS_NO_MATCHING_KEY', 'ERR_JWS_SIGNATURE_VERIFICATION_FAILED', severalKeys]

const codeOf = (error: unknown): string => (error as { readonly code?: string }).code ?? ''

/** Whether none of the keys has signed the token. */
const isUnverified = (error: unknown): boolean => unverified.includes(codeOf(error))

async function verifiedWith(
  { rules, algorithms, budget }: Judging,
  { keyOf }: KnownKeys,
  token: string,
): Promise<Claims> {
  const { jwtVerify } = await import('jose')
  const options: JWTVerifyOptions = {
    algorithms: [...algorithms],
    issuer: rules.config.issuer.url,
    clockTolerance: leeway,
    requiredClaims: ['exp', 'aud'],
  }
  const key: JWTVerifyGetKey = async (...head) => {
    const found = await keyOf(...head)
    budget.keys--
    return found
  }
  try {
    return (await jwtVerify(token, key, options)).payload
  } catch (error) {
    return verifiedByAny(error, budget, async one => (await jwtVerify(token, one, options)).payload)
  }
}

/** A token without a key ID is verified with all matching keys. */
async function verifiedByAny(
  error: unknown,
  budget: TokenBudget,
  verify: (key: webcrypto.CryptoKey) => Promise<Claims>,
): Promise<Claims> {
  if (codeOf(error) === severalKeys)
    for await (const key of error as AsyncIterable<webcrypto.CryptoKey>) {
      const found = await verify(key).catch(() => undefined)
      if (found !== undefined) return found
      if (--budget.keys === 0) break
    }
  throw error
}
