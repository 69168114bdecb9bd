import { LRUCache } from 'lru-cache'
import type { Item } from '../../contract/item.ts'
import type { Logger } from '../../contract/log.ts'
import { fieldErrorText } from '../../meta/errors.ts'
import type { ClusterName, KubeObject } from '../../meta/object.ts'
import type { AddressPolicy } from '../../net/addresspolicy.ts'
import { type BearerTokenReader, TokenError } from '../token.ts'
import { ofWorkspace } from './claims.ts'
import type { ExpressionCompiler, JwtConfig } from './config.ts'
import { isIssuedBy, type JwtIssuer, jwtIssuer, jwtVerdicts } from './jwttokens.ts'
import { excessOf } from './limits.ts'
import { checkRules } from './rules.ts'

export interface WorkspaceTokensOptions {
  /** The WorkspaceAuthenticationConfigurations of a logical cluster, from memory. */
  readonly configurationsOf: (cluster: ClusterName) => readonly Item[]
  readonly compiler: ExpressionCompiler
  /** The issuers of the server itself, which tenants must not configure. */
  readonly forbidden: readonly string[]
  /** Where tenants' issuers may be. */
  readonly addresses: AddressPolicy
  readonly log: Logger
}

type Verdicts = ReturnType<typeof jwtVerdicts>

interface Built {
  readonly version: string
  readonly issuers: readonly JwtIssuer[]
}

/** Configurations whose issuers are kept, and their bytes: they have the certificates of tenants. */
const remembered = { max: 1000, maxSize: 64 * 1024 * 1024 }

/**
 * Users by tokens of the issuers that the type of a workspace configures, for this workspace only (kcp
 * `pkg/proxy/authentication`).
 */
export function workspaceTokens(options: WorkspaceTokensOptions): BearerTokenReader {
  const built = new LRUCache<string, Built>(remembered)
  // One for the issuers of all tenants: each of them can make any number of tokens.
  const verdicts = jwtVerdicts()
  let count = 0
  const issuersOf = (item: Item): readonly JwtIssuer[] => {
    const { resourceVersion: version, uid } = item.meta
    const known = built.get(uid)
    if (known?.version === version) return known.issuers
    const issuers = build(item.object, { ...options, verdicts: within(verdicts, String(count++)) })
    built.set(uid, { version, issuers }, { size: item.bytes.length + 1 })
    return issuers
  }
  return async (token, { cluster }) => {
    if (cluster === undefined) return undefined
    const issuers = options.configurationsOf(cluster).flatMap(issuersOf)
    const claimed = issuers.filter(({ url }) => isIssuedBy(token, url))
    const budget = options.compiler.newBudget()
    const problems: string[] = []
    for (const issuer of claimed) {
      try {
        return { user: ofWorkspace(await issuer.userOf(token, budget), cluster) }
      } catch (error) {
        if (!(error instanceof TokenError)) throw error
        problems.push(error.message)
      }
    }
    if (problems.length > 0) throw new TokenError(problems.join(', '))
    return undefined
  }
}

interface Configuration extends KubeObject {
  readonly spec?: { readonly jwt?: readonly JwtConfig[] }
}

/** The results of some tokens, in a shared cache. */
const within = (verdicts: Verdicts, id: string): Verdicts => ({
  of: (token, judge) => verdicts.of(`${id} ${token}`, judge),
})

interface Building extends WorkspaceTokensOptions {
  readonly verdicts: Verdicts
}

/** Invalid entries are logged and ignored; all entries of a configuration that is too large. */
function build(object: Configuration, options: Building): readonly JwtIssuer[] {
  const { compiler, forbidden, addresses, verdicts } = options
  const configs = object.spec?.jwt ?? []
  const excess = excessOf(configs)
  if (excess !== undefined) warn(object, options, [excess])
  return (excess === undefined ? configs : []).flatMap((config, i) => {
    const { rules, errors } = checkRules(config, `spec.jwt[${i}]`, compiler, forbidden)
    if (errors.length === 0) return [jwtIssuer({ rules, addresses, verdicts: within(verdicts, String(i)) })]
    warn(object, options, errors.map(fieldErrorText))
    return []
  })
}

function warn({ metadata }: Configuration, { log }: Building, errors: readonly string[]): void {
  const { name, annotations } = metadata
  const cluster = annotations?.['kcp.io/cluster']
  log.warn({ cluster, name, errors }, 'invalid workspace authentication configuration')
}
