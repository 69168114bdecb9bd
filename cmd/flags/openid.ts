import { type Command, InvalidArgumentError } from 'commander'
import { signingAlgorithms } from '../../framework/authn/jwt/algorithms.ts'
import type { JwtConfig } from '../../framework/authn/jwt/index.ts'
import { readFlagFile } from '../files/files.ts'
import { StartError } from '../files/starterror.ts'

/** One issuer by flags, as kube-apiserver has them. */
export interface OpenIdOptions {
  readonly oidcIssuerUrl?: string
  readonly oidcClientId?: string
  readonly oidcCaFile?: string
  readonly oidcUsernameClaim?: string
  readonly oidcUsernamePrefix?: string
  readonly oidcGroupsClaim?: string
  readonly oidcGroupsPrefix?: string
  readonly oidcRequiredClaim?: Readonly<Record<string, string>>
  readonly oidcSigningAlgs?: readonly string[]
}

/** Adds the flags to a command. */
export const openIdFlags = (command: Command): Command =>
  command
    .option('--oidc-issuer-url <url>', 'an OpenID issuer of tokens')
    .option('--oidc-client-id <audience>', 'whom its tokens are for')
    .option('--oidc-ca-file <path>', 'the authority of its certificate, PEM; the well-known ones by default')
    .option('--oidc-username-claim <claim>', 'which claim is the user: sub by default')
    .option('--oidc-username-prefix <text>', 'before the user; by default "<issuer>#", and - is none')
    .option('--oidc-groups-claim <claim>', 'which claim has the groups')
    .option('--oidc-groups-prefix <text>', 'before each group')
    .option('--oidc-required-claim <claim=value>', 'what tokens must say; may be given again', requiredClaim)
    .option('--oidc-signing-algs <names>', 'how tokens may be signed: RS256 by default', algorithms)

function requiredClaim(
  text: string,
  before: Readonly<Record<string, string>> = {},
): Readonly<Record<string, string>> {
  const at = text.indexOf('=')
  if (at < 1) throw new InvalidArgumentError('A claim and its value look like tenant=blue.')
  return { ...before, [text.slice(0, at)]: text.slice(at + 1) }
}

function algorithms(text: string): readonly string[] {
  const names = text.split(',').map(name => name.trim())
  const unknown = names.find(name => !signingAlgorithms.includes(name))
  if (unknown !== undefined)
    throw new InvalidArgumentError(`${unknown} is none of ${signingAlgorithms.join(', ')}.`)
  return names
}

/** Whether any of the flags was given. */
export const isOpenId = (options: OpenIdOptions): boolean =>
  Object.entries(options).some(([name, value]) => name.startsWith('oidc') && value !== undefined)

/** The same as an entry of an AuthenticationConfiguration. Throws `StartError` when half of it is missing. */
export async function openIdConfig(
  options: OpenIdOptions,
): Promise<{ readonly config: JwtConfig; readonly algorithms: readonly string[] }> {
  const { oidcIssuerUrl: url, oidcClientId: audience, oidcCaFile, oidcSigningAlgs = ['RS256'] } = options
  if (url === undefined || audience === undefined)
    throw new StartError('--oidc-issuer-url and --oidc-client-id belong together: give both.')
  const authority = oidcCaFile === undefined ? undefined : await readFlagFile('--oidc-ca-file', oidcCaFile)
  const required = Object.entries(options.oidcRequiredClaim ?? {})
  const config: JwtConfig = {
    issuer: { url, audiences: [audience], ...(authority && { certificateAuthority: authority }) },
    claimMappings: { username: usernameOf(options, url), ...groupsOf(options) },
    claimValidationRules: required.map(([claim, requiredValue]) => ({ claim, requiredValue })),
  }
  return { config, algorithms: oidcSigningAlgs }
}

/** Names of different issuers are kept apart, except addresses, which say whose they are. */
function usernameOf({ oidcUsernameClaim: claim = 'sub', oidcUsernamePrefix }: OpenIdOptions, url: string) {
  const apart = claim === 'email' ? '' : `${url}#`
  return { claim, prefix: oidcUsernamePrefix === '-' ? '' : oidcUsernamePrefix || apart }
}

const groupsOf = ({ oidcGroupsClaim: claim, oidcGroupsPrefix: prefix = '' }: OpenIdOptions) =>
  claim === undefined ? {} : { groups: { claim, prefix } }
