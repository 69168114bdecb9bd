import { Pace } from '../../async/awaitable.ts'
import type { Item } from '../../contract/item.ts'
import type { ClusterName } from '../../meta/object.ts'
import { unverifiedClaims } from '../jwt.ts'
import { type BearerTokenReader, TokenError } from '../token.ts'
import { ofWorkspace } from './claims.ts'
import { ConfiguredIssuers, type ConfiguredIssuersOptions } from './configuredissuers.ts'
import { newTokenBudget } from './jwttokens.ts'

export interface WorkspaceTokensOptions extends ConfiguredIssuersOptions {
  /** The WorkspaceAuthenticationConfigurations of a logical cluster, from memory. */
  readonly configurationsOf: (cluster: ClusterName) => readonly Item[]
}

/** Entries that are asked about one token: each may fetch keys and verify the token with them. */
const mostAsked = 16

/**
 * Users by tokens of the issuers that the type of a workspace configures, for this workspace only (kcp
 * `pkg/proxy/authentication`). Of several entries with the issuer of a token, the first 16 are asked.
 */
export function workspaceTokens({ configurationsOf, ...options }: WorkspaceTokensOptions): BearerTokenReader {
  const configured = new ConfiguredIssuers(options)
  return async (token, { cluster, source }) => {
    const url = cluster === undefined ? undefined : unverifiedClaims(token)?.iss
    if (cluster === undefined || typeof url !== 'string') return undefined
    const claimed = await configured.at(url, configurationsOf(cluster), mostAsked)
    const budget = newTokenBudget(options.compiler, source)
    const pace = new Pace()
    const problems: string[] = []
    for (const issuer of claimed) {
      await pace.due()
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
