import { type Command, InvalidArgumentError, Option } from 'commander'
import type { WebhookTokensOptions } from '../../framework/authn/index.ts'
import type { IssuerOptions } from './issuers.ts'
import { openIdFlags } from './openid.ts'
import { type RequestHeaderFlags, requestHeaderFlags } from './requestheader.ts'
import { duration, places, textList, truth } from './values.ts'

/** Who is known: the flags about identities. */
export interface IdentityOptions extends RequestHeaderFlags, IssuerOptions {
  readonly tokenAuthFile?: string
  readonly authenticationTokenWebhookConfigFile?: string
  readonly authenticationTokenWebhookVersion?: WebhookTokensOptions['version']
  /** Milliseconds. */
  readonly authenticationTokenWebhookCacheTtl?: number
  readonly clientCaFile?: string
  readonly trustSystemIdentities?: boolean
  /** Whom tokens have to be for; by default whom service accounts' tokens are from. */
  readonly apiAudiences?: readonly string[]
}

/** Adds the flags to a command. */
export const identityFlags = (command: Command): Command =>
  requestHeaderFlags(openIdFlags(command))
    .option('--token-auth-file <path>', 'users with fixed tokens: lines of token,user,uid,"group1,group2"')
    .option('--client-ca-file <path>', 'authorities whose client certificates are users, PEM')
    .option('--authentication-config <path>', 'issuers of tokens: an AuthenticationConfiguration')
    .option(
      '--authentication-token-webhook-config-file <path>',
      'a server that knows tokens, as a kubeconfig',
    )
    .addOption(
      new Option('--authentication-token-webhook-version <version>', 'of the reviews it gets').choices([
        'v1',
        'v1beta1',
      ]),
    )
    .option(
      '--authentication-token-webhook-cache-ttl <duration>',
      'how long its answers are believed',
      duration,
    )
    .option('--api-audiences <names>', 'whom tokens have to be for, of each method that says it', textList)
    .option('--trust-system-identities', 'let these issuers name users and groups that begin with system:')

/** Who is known in logical clusters only. */
export interface AccountOptions {
  readonly serviceAccountKeyFile?: string
  /** The first issues tokens; those of the others are good, too. */
  readonly serviceAccountIssuer?: readonly string[]
  /** Milliseconds. */
  readonly serviceAccountMaxTokenExpiration?: number
  /** Host names, addresses and networks that are not public. */
  readonly issuerAllow?: readonly string[]
}

/** Adds the flags to a command. */
export const accountFlags = (command: Command): Command =>
  command
    .option('--anonymous-auth <boolean>', 'let in who has no credentials, as system:anonymous', truth)
    .option('--service-account-key-file <path>', 'what tokens of service accounts are signed with, PEM')
    .option(
      '--service-account-issuer <url>',
      'whom these tokens are from; another one for old tokens',
      issuers,
    )
    .option(
      '--service-account-max-token-expiration <duration>',
      'how long these tokens live at most, whatever they ask for',
      tokenLife,
    )
    .option('--issuer-allow <place>', 'a host, address or network where issuers of workspaces may be', places)

function issuers(text: string, before: readonly string[] = []): readonly string[] {
  if (text === '' || (text.includes(':') && !URL.canParse(text)))
    throw new InvalidArgumentError('An issuer is a URL, or a name without a colon.')
  return [...before, text]
}

const hour = 3_600_000
const mostSeconds = 2 ** 32

function tokenLife(text: string): number {
  const milliseconds = duration(text)
  if (milliseconds < hour || milliseconds > mostSeconds * 1000)
    throw new InvalidArgumentError('Tokens live between one hour and 2^32 seconds.')
  return milliseconds
}
