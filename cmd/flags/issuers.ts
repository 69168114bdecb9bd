import { type Command, InvalidArgumentError } from 'commander'
import { signingAlgorithms } from '../../framework/authn/jwt/config.ts'
import type {
  AnonymousConfig,
  AuthenticationConfig,
  AuthenticationConfigOptions,
  JwtConfig,
  JwtIssuer,
} from '../../framework/authn/jwt/index.ts'
import { readFlagFile } from '../files/files.ts'
import { StartError } from '../files/starterror.ts'
import { flagsBelongTogether, flagsNeed } from './rules.ts'
import { filledList } from './values.ts'

/** One OpenID Connect issuer by flags, which are those of kube-apiserver. */
export interface OpenIdFlags {
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
export function addOpenIdFlags(command: Command): Command {
  addOpenIdOptions(command)
  flagsBelongTogether(command, '--oidc-issuer-url', '--oidc-client-id')
  flagsNeed(command, ofIssuer, '--oidc-issuer-url')
  return flagsNeed(command, ['--oidc-groups-prefix'], '--oidc-groups-claim')
}

const ofIssuer = [
  '--oidc-ca-file',
  '--oidc-username-claim',
  '--oidc-username-prefix',
  '--oidc-groups-claim',
  '--oidc-groups-prefix',
  '--oidc-required-claim',
  '--oidc-signing-algs',
]

const addOpenIdOptions = (command: Command): Command =>
  command
    .optionsGroup('OpenID Connect (one issuer, instead of --authentication-config):')
    .option('--oidc-issuer-url <url>', 'URL of the issuer, e.g. https://issuer.example.com')
    .option('--oidc-client-id <audience>', 'accepted audience of its tokens')
    .option(
      '--oidc-ca-file <path>',
      'PEM file of the certificate authority of the issuer (default: the public ones)',
    )
    .option('--oidc-username-claim <claim>', 'claim with the user name (default: "sub")')
    .option(
      '--oidc-username-prefix <text>',
      'prefix of user names; - is no prefix (default: "<issuer>#", none for the claim "email")',
    )
    .option('--oidc-groups-claim <claim>', 'claim with the groups')
    .option('--oidc-groups-prefix <text>', 'prefix of groups')
    .option(
      '--oidc-required-claim <claim=value>',
      'claim and value required in tokens, e.g. tenant=blue; may be repeated',
      requiredClaim,
    )
    .option(
      '--oidc-signing-algs <names>',
      'accepted signing algorithms, comma-separated (default: RS256)',
      algorithms,
    )

function requiredClaim(
  text: string,
  before: Readonly<Record<string, string>> = {},
): Readonly<Record<string, string>> {
  const at = text.indexOf('=')
  if (at < 1) throw new InvalidArgumentError('Give a claim and its value, such as tenant=blue.')
  return { ...before, [text.slice(0, at)]: text.slice(at + 1) }
}

function algorithms(text: string): readonly string[] {
  const names = filledList(text)
  const unknown = names.find(name => !signingAlgorithms.includes(name))
  if (unknown !== undefined)
    throw new InvalidArgumentError(
      `Unknown algorithm ${JSON.stringify(unknown)}: use one of ${signingAlgorithms.join(', ')}.`,
    )
  return names
}

/** The flags that configure issuers of JSON web tokens and anonymous requests. */
export interface IssuerFlags extends OpenIdFlags {
  readonly authenticationConfig?: string
  readonly anonymousAuth?: boolean
}

/**
 * The issuers that the flags configure: those of `before` where their entries are the same; `forbidden` issuers are refused. Throws
 * `StartError` with all mistakes.
 */
export async function readIssuers(
  flags: IssuerFlags,
  forbidden: readonly string[],
  before: readonly JwtIssuer[] = [],
): Promise<AuthenticationConfig> {
  const { authenticationConfig: path, anonymousAuth } = flags
  const anonymous = anonymousAuth === undefined ? {} : { anonymous: { enabled: anonymousAuth } }
  if (path !== undefined && isOpenId(flags))
    throw new StartError(
      '--authentication-config and the --oidc-* flags are mutually exclusive: remove one of them.',
    )
  const found =
    path !== undefined || isOpenId(flags) ? await configured(flags, { forbidden, before }) : { issuers: [] }
  if (found.anonymous !== undefined && anonymousAuth !== undefined)
    throw new StartError(`${path} has the field "anonymous": remove that field or --anonymous-auth.`)
  for (const issuer of found.issuers) void issuer.prepare()
  return { ...found, ...anonymous }
}

/** Whether any of the flags is given. */
const isOpenId = (flags: OpenIdFlags): boolean =>
  Object.entries(flags).some(([name, value]) => name.startsWith('oidc') && value !== undefined)

/** Loads the code of issuers only when some are configured. */
async function configured(
  flags: IssuerFlags,
  known: Pick<AuthenticationConfigOptions, 'forbidden' | 'before'>,
): Promise<AuthenticationConfig> {
  const [{ issuersOf, readAuthenticationConfig }, { tokenExpressions: compiler }] = await Promise.all([
    import('../../framework/authn/jwt/index.ts'),
    import('../../openapi/expressions/tokenexpressions.ts'),
  ])
  const { authenticationConfig: path } = flags
  if (path !== undefined) {
    const yaml = await readFlagFile('--authentication-config', path)
    return usable(path, () => readAuthenticationConfig(yaml, { compiler, ...known }))
  }
  const { config, algorithms } = await openIdConfig(flags)
  const issuers = () => issuersOf([config], { compiler, ...known, algorithms })
  return usable('the --oidc-* flags', () => ({ issuers: issuers() }))
}

function usable(source: string, read: () => AuthenticationConfig): AuthenticationConfig {
  try {
    return read()
  } catch (error) {
    throw new StartError(`Invalid authentication configuration in ${source}: ${(error as Error).message}.`)
  }
}

/** The `--oidc-*` flags as an entry of an AuthenticationConfiguration. Throws `StartError` when a required flag is missing. */
async function openIdConfig(
  flags: OpenIdFlags,
): Promise<{ readonly config: JwtConfig; readonly algorithms: readonly string[] }> {
  const { oidcIssuerUrl: url, oidcClientId: audience, oidcCaFile, oidcSigningAlgs = ['RS256'] } = flags
  if (url === undefined || audience === undefined)
    throw new StartError(
      '--oidc-issuer-url and --oidc-client-id must be specified together: add the missing one.',
    )
  const authority = oidcCaFile === undefined ? undefined : await readFlagFile('--oidc-ca-file', oidcCaFile)
  const required = Object.entries(flags.oidcRequiredClaim ?? {})
  const config: JwtConfig = {
    issuer: { url, audiences: [audience], ...(authority && { certificateAuthority: authority }) },
    claimMappings: { username: usernameOf(flags, url), ...groupsOf(flags) },
    claimValidationRules: required.map(([claim, requiredValue]) => ({ claim, requiredValue })),
  }
  return { config, algorithms: oidcSigningAlgs }
}

/** As in kube-apiserver, user names get the issuer as prefix, except those of the claim `email`. */
function usernameOf({ oidcUsernameClaim: claim = 'sub', oidcUsernamePrefix }: OpenIdFlags, url: string) {
  const byDefault = claim === 'email' ? '' : `${url}#`
  return { claim, prefix: oidcUsernamePrefix === '-' ? '' : oidcUsernamePrefix || byDefault }
}

const groupsOf = ({ oidcGroupsClaim: claim, oidcGroupsPrefix: prefix = '' }: OpenIdFlags) =>
  claim === undefined ? {} : { groups: { claim, prefix } }

/** Whether requests without credentials are allowed to a path. */
export const admits = (anonymous: AnonymousConfig | undefined, path: string): boolean =>
  anonymous === undefined ||
  (anonymous.enabled && (anonymous.conditions?.some(condition => condition.path === path) ?? true))
