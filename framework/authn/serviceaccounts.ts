import { randomUUID } from 'node:crypto'
import type { Informer, Informers } from '../contract/informer.ts'
import type { Item } from '../contract/item.ts'
import { StatusError } from '../meta/errors.ts'
import type { ClusterName } from '../meta/object.ts'
import { clusterNameKey, credentialKey, scopeOf, scopesKey, type UserInfo } from '../request/user.ts'
import { serviceAccountGroups, serviceAccountName } from './accountname.ts'
import { authenticated } from './authentication.ts'
import { audiencesIn, type Claims, isObject, unverifiedClaims } from './jwt.ts'
import type { SigningKeys } from './signingkeys.ts'
import { type BearerTokenReader, TokenError } from './token.ts'
import { createVerdicts, type TokenVerdict } from './verdicts.ts'

/** A service account of a logical cluster. */
export interface AccountRef {
  readonly cluster: ClusterName
  readonly namespace: string
  readonly name: string
  readonly uid: string
}

/** The content of a token. */
export interface TokenGrant extends AccountRef {
  readonly audiences: readonly string[]
  readonly seconds: number
  /** The token is valid while this secret exists. */
  readonly secret?: { readonly name: string; readonly uid: string }
}

/** Issues tokens of service accounts. */
export interface TokenIssuer {
  /** Audiences of tokens that ask for none. */
  readonly audiences: readonly string[]
  /** Maximum lifetime of a token in seconds. */
  readonly longest?: number
  issue(grant: TokenGrant): Promise<IssuedToken>
  /** A token without expiry, for a secret of the type `kubernetes.io/service-account-token`. */
  legacy(account: AccountRef, secret: string): Promise<string>
}

export interface IssuedToken {
  readonly token: string
  /** Milliseconds since the epoch. */
  readonly expires: number
  /** `JTI=…`: the ID of the token in audit events. */
  readonly credentialId: string
}

export interface ServiceAccountKeys {
  readonly keys: SigningKeys
  /** `iss` of new tokens. */
  readonly issuer: string
  /** Other accepted issuers; default: none. */
  readonly formerIssuers?: readonly string[]
  /** Of tokens that ask for none; default: the issuer. */
  readonly audiences?: readonly string[]
  /** Maximum lifetime of a token in seconds; default: no maximum. */
  readonly longest?: number
}

const legacyIssuer = 'kubernetes/serviceaccount'
const flat = 'kubernetes.io/serviceaccount/'

export function tokenIssuer({ keys, issuer, audiences, longest }: ServiceAccountKeys): TokenIssuer {
  return {
    audiences: audiences ?? [issuer],
    ...(longest === undefined ? {} : { longest }),
    async issue(grant) {
      const now = Math.floor(Date.now() / 1000)
      const [id, end] = [randomUUID(), now + grant.seconds]
      const token = await keys.sign({
        ...boundClaims(grant),
        iss: issuer,
        iat: now,
        nbf: now,
        exp: end,
        jti: id,
      })
      return { token, expires: end * 1000, credentialId: `JTI=${id}` }
    },
    legacy: (account, secret) => keys.sign({ ...legacyClaims(account, secret), iss: legacyIssuer }),
  }
}

const boundClaims = ({ cluster, namespace, name, uid, audiences, secret }: TokenGrant): Claims => ({
  aud: audiences,
  'kubernetes.io': {
    clusterName: cluster,
    namespace,
    serviceaccount: { name, uid },
    ...(secret === undefined ? {} : { secret: { name: secret.name, uid: secret.uid } }),
  },
  sub: serviceAccountName(namespace, name),
})

const legacyClaims = ({ cluster, namespace, name, uid }: AccountRef, secret: string): Claims => ({
  [`${flat}clusterName`]: cluster,
  [`${flat}namespace`]: namespace,
  [`${flat}secret.name`]: secret,
  [`${flat}service-account.name`]: name,
  [`${flat}service-account.uid`]: uid,
  sub: serviceAccountName(namespace, name),
})

/** A token with a valid signature, decoded once. Its account and secret are checked at each use. */
interface Signed {
  readonly account: AccountRef
  readonly user: UserInfo
  readonly audiences?: readonly string[]
  readonly secret?: { readonly name: string; readonly uid?: string }
}

/**
 * Whether the shard of a service account accepts its token. Rejects when the shard does not answer, and with 503 when it cannot
 * tell now.
 */
export type ReviewElsewhere = (token: string, audiences?: readonly string[]) => Promise<boolean>

export interface ServiceAccountReaderOptions extends ServiceAccountKeys {
  readonly informers: Informers
  /** The review of tokens of a logical cluster of another shard; undefined for those of this one. */
  readonly elsewhere?: (cluster: ClusterName) => ReviewElsewhere | undefined
}

/** Keys do not change while the server runs; this only limits the cache of unused tokens. */
const remembered = 60 * 60 * 1000

/**
 * Users by tokens of service accounts, bound and legacy (`kubernetes/pkg/serviceaccount`). The deletion of the account
 * or of the secret invalidates tokens at once: only the signature is cached. Tokens of other shards are valid while their
 * shard accepts them.
 */
export function serviceAccountTokens(options: ServiceAccountReaderOptions): BearerTokenReader {
  const { issuer, formerIssuers = [], informers, keys } = options
  const bound = new Set<unknown>([issuer, ...formerIssuers])
  const verdicts = createVerdicts<Signed>(remembered)
  const accounts = informers.for({ group: '', version: 'v1', resource: 'serviceaccounts' })
  const secrets = informers.for({ group: '', version: 'v1', resource: 'secrets' })
  return async token => {
    const said = unverifiedClaims(token)?.iss
    const isLegacy = said === legacyIssuer
    if (!isLegacy && !bound.has(said)) return undefined
    const signed = await verdicts.of(token, async () => judge(await keys.verify(token), isLegacy))
    const { account, user, audiences } = signed
    const review = options.elsewhere?.(account.cluster)
    if (review !== undefined) await checkElsewhere(review, token, audiences)
    else {
      checkAccount(signed, accounts)
      if (signed.secret !== undefined) checkSecret(signed, secrets, isLegacy ? token : undefined)
    }
    return audiences === undefined ? { user } : { user, audiences }
  }
}

function judge(claims: Claims, isLegacy: boolean): TokenVerdict<Signed> {
  const value = isLegacy ? readLegacy(claims) : readBound(claims)
  const expires = typeof claims.exp === 'number' ? claims.exp * 1000 : Number.POSITIVE_INFINITY
  return { value, expires }
}

function readBound(claims: Claims): Signed {
  const said = fields(claims['kubernetes.io'])
  const { name, uid } = fields(said.serviceaccount)
  const account = accountOf({ cluster: said.clusterName, namespace: said.namespace, name, uid })
  if (account === undefined || typeof claims.exp !== 'number') throw unreadable()
  for (const kind of ['pod', 'node'])
    if (said[kind] !== undefined) throw new TokenError('service account token has been invalidated')
  const secret = said.secret === undefined ? {} : { secret: secretOf(fields(said.secret)) }
  const audiences = audiencesIn(claims)
  const id = typeof claims.jti === 'string' ? `JTI=${claims.jti}` : undefined
  return { account, user: userOf(account, id), ...secret, ...(audiences.length > 0 && { audiences }) }
}

function readLegacy(claims: Claims): Signed {
  const [cluster, namespace] = [claims[`${flat}clusterName`], claims[`${flat}namespace`]]
  const [name, uid] = [claims[`${flat}service-account.name`], claims[`${flat}service-account.uid`]]
  const account = accountOf({ cluster, namespace, name, uid })
  const secret = claims[`${flat}secret.name`]
  if (account === undefined || typeof secret !== 'string') throw unreadable()
  if (claims.sub !== serviceAccountName(account.namespace, account.name))
    throw new TokenError('sub claim is invalid')
  return { account, user: userOf(account, undefined), secret: { name: secret } }
}

const fields = (value: unknown): Claims => (isObject(value) ? value : {})
const unreadable = (): TokenError => new TokenError('service account token claims could not be validated')

function accountOf(claims: Readonly<Record<keyof AccountRef, unknown>>): AccountRef | undefined {
  const { cluster, namespace, name, uid } = claims
  const parts = [cluster, namespace, name, uid]
  return parts.every(part => typeof part === 'string' && part !== '') ? (claims as AccountRef) : undefined
}

function secretOf({ name, uid }: Claims): { readonly name: string; readonly uid: string } {
  if (typeof name !== 'string' || typeof uid !== 'string') throw unreadable()
  return { name, uid }
}

const userOf = ({ cluster, namespace, name, uid }: AccountRef, credentialId: string | undefined): UserInfo =>
  authenticated({
    name: serviceAccountName(namespace, name),
    uid,
    groups: serviceAccountGroups(namespace),
    extra: {
      [clusterNameKey]: [cluster],
      [scopesKey]: [scopeOf(cluster)],
      ...(credentialId === undefined ? {} : { [credentialKey]: [credentialId] }),
    },
  })

async function checkElsewhere(
  review: ReviewElsewhere,
  token: string,
  audiences: readonly string[] | undefined,
): Promise<void> {
  const isAccepted = await review(token, audiences).catch(unlessUnavailable)
  if (!isAccepted) throw notAccepted(false)
}

function unlessUnavailable(error: unknown): never {
  throw error instanceof StatusError && error.code === 503 ? error : notAccepted(true)
}

const notAccepted = (isUnchecked: boolean): TokenError =>
  new TokenError('the shard of the service account does not accept the token', isUnchecked)

const isGoing = (item: Item): boolean => item.object.metadata.deletionTimestamp !== undefined

function checkAccount({ account }: Signed, accounts: Informer): void {
  const { cluster, namespace, name, uid } = account
  const item = accounts.get(cluster, namespace, name)
  if (item === undefined) throw new TokenError(`serviceaccounts ${JSON.stringify(name)} not found`)
  if (item.meta.uid !== uid)
    throw new TokenError(`service account UID (${item.meta.uid}) does not match claim (${uid})`)
  if (isGoing(item)) throw new TokenError(`service account ${namespace}/${name} has been deleted`)
}

/** `legacy`: the token, which must be in the secret. */
function checkSecret({ account, secret }: Signed, secrets: Informer, legacy: string | undefined): void {
  const item = secrets.get(account.cluster, account.namespace, secret?.name ?? '')
  if (item === undefined || isGoing(item)) throw new TokenError('service account token has been invalidated')
  if (secret?.uid !== undefined && item.meta.uid !== secret.uid)
    throw new TokenError(
      `secret UID (${item.meta.uid}) does not match service account secret ref claim (${secret.uid})`,
    )
  if (legacy !== undefined) checkCopy(item, legacy)
}

const invalidSince = 'kubernetes.io/legacy-token-invalid-since'

function checkCopy({ object, meta }: Item, token: string): void {
  const held = fields(object.data).token
  if (typeof held !== 'string' || Buffer.from(held, 'base64').toString() !== token)
    throw new TokenError("Token does not match server's copy")
  if (meta.labels[invalidSince])
    throw new TokenError(`the token in secret ${meta.namespace}/${meta.name} has been marked invalid`)
}
