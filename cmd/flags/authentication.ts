import { type Command, InvalidArgumentError, Option } from 'commander'
import type { WebhookTokensOptions } from '../../framework/authn/index.ts'
import { type AccountKeyFlags, addAccountKeyFlags } from './accountkeys.ts'
import { addOpenIdFlags, type IssuerFlags } from './issuers.ts'
import { flagsNeed } from './rules.ts'
import { commonOption, duration, filledList, refuseRepetition, truth } from './values.ts'

/** The headers by which front proxies state the user of a request. */
export interface RequestHeaderFlags {
  readonly requestheaderClientCaFile?: string
  readonly requestheaderAllowedNames?: readonly string[]
  readonly requestheaderUsernameHeaders?: readonly string[]
  readonly requestheaderGroupHeaders?: readonly string[]
  readonly requestheaderExtraHeadersPrefix?: readonly string[]
  readonly requestheaderUidHeaders?: readonly string[]
}

export interface AuthenticationFlags extends RequestHeaderFlags, IssuerFlags {
  readonly tokenAuthFile?: string
  readonly authenticationTokenWebhookConfigFile?: string
  readonly authenticationTokenWebhookVersion?: WebhookTokensOptions['version']
  /** Milliseconds. */
  readonly authenticationTokenWebhookCacheTtl?: number
  readonly clientCaFile?: string
  readonly trustSystemIdentities?: boolean
  /** Default: the issuers of service account tokens. */
  readonly apiAudiences?: readonly string[]
}

/** Adds the flags to a command. */
export const addAuthenticationFlags = (command: Command): Command =>
  addRequestHeaderFlags(addOpenIdFlags(addTokenFlags(addCommonFlags(command))))

export const clientCaOption = (): Option =>
  commonOption('--client-ca-file <path>', 'PEM file of the certificate authorities of client certificates')

const addCommonFlags = (command: Command): Command =>
  command
    .addOption(
      commonOption(
        '--token-auth-file <path>',
        'CSV file of static tokens: token,user,uid,"group1,group2" in each line',
      ),
    )
    .addOption(clientCaOption())
    .addOption(
      commonOption(
        '--authentication-config <path>',
        'AuthenticationConfiguration file with the issuers of accepted JSON web tokens',
      ),
    )

function addTokenFlags(command: Command): Command {
  addTokenOptions(command)
  flagsNeed(command, ['--trust-system-identities'], '--authentication-config', '--oidc-issuer-url')
  return flagsNeed(
    command,
    ['--authentication-token-webhook-version', '--authentication-token-webhook-cache-ttl'],
    '--authentication-token-webhook-config-file',
  )
}

const addTokenOptions = (command: Command): Command =>
  command
    .optionsGroup('Authentication:')
    .option(
      '--api-audiences <names>',
      'accepted token audiences, comma-separated (default: the service account issuers)',
      filledList,
    )
    .option(
      '--authentication-token-webhook-config-file <path>',
      'kubeconfig of a webhook that authenticates tokens',
    )
    .addOption(
      new Option(
        '--authentication-token-webhook-version <version>',
        'API version of the TokenReviews sent to the webhook',
      )
        .choices(['v1', 'v1beta1'])
        .default('v1beta1'),
    )
    .option(
      '--authentication-token-webhook-cache-ttl <duration>',
      'how long results of the webhook are cached (default: 2m)',
      duration,
    )
    .option('--trust-system-identities', 'allow issuers to assert users and groups with the prefix "system:"')

/** Adds the flags to a command. */
export const addRequestHeaderFlags = (command: Command): Command =>
  flagsNeed(
    addRequestHeaderOptions(command),
    [
      '--requestheader-allowed-names',
      '--requestheader-username-headers',
      '--requestheader-group-headers',
      '--requestheader-extra-headers-prefix',
      '--requestheader-uid-headers',
    ],
    '--requestheader-client-ca-file',
  )

const addRequestHeaderOptions = (command: Command): Command =>
  command
    .optionsGroup('Front proxies:')
    .option(
      '--requestheader-client-ca-file <path>',
      'PEM file of the certificate authorities of front proxies; required for the headers below',
    )
    .option(
      '--requestheader-allowed-names <names>',
      'accepted common names of front proxies, comma-separated (default: all)',
      filledList,
    )
    .option(
      '--requestheader-username-headers <names>',
      'headers with the user name (default: X-Remote-User)',
      headers,
    )
    .option(
      '--requestheader-group-headers <names>',
      'headers with a group (default: X-Remote-Group)',
      headers,
    )
    .option(
      '--requestheader-extra-headers-prefix <prefixes>',
      'prefixes of headers with extra values (default: X-Remote-Extra-)',
      headers,
    )
    .option('--requestheader-uid-headers <names>', 'headers with the UID (default: X-Remote-Uid)', headers)

function headers(text: string): readonly string[] {
  const found = filledList(text)
  if (!found.every(name => /^[A-Za-z0-9-]+$/.test(name)))
    throw new InvalidArgumentError('Give header names, separated by commas.')
  return found
}

export interface ServiceAccountFlags extends AccountKeyFlags {
  /** New tokens are issued by the first; tokens of all are accepted. */
  readonly serviceAccountIssuer?: readonly string[]
  /** Milliseconds. */
  readonly serviceAccountMaxTokenExpiration?: number
}

/** Adds the flags to a command. */
export const addServiceAccountFlags = (command: Command): Command =>
  addAccountKeyFlags(
    command
      .optionsGroup('Authentication:')
      .option(
        '--anonymous-auth <boolean>',
        'allow requests without credentials, as user system:anonymous (default: true)',
        truth,
      )
      .optionsGroup('Service accounts:'),
  )
    .option(
      '--service-account-issuer <url>',
      'issuer of service account tokens; repeat it for further accepted issuers (default: https://kcp.default.svc)',
      issuers,
    )
    .option(
      '--service-account-max-token-expiration <duration>',
      'maximum lifetime of service account tokens, e.g. 24h (default: no limit)',
      tokenLifetime,
    )

function issuers(text: string, before: readonly string[] = []): readonly string[] {
  if (text === '' || (text.includes(':') && !URL.canParse(text)))
    throw new InvalidArgumentError('An issuer is a URL, or a name without a colon.')
  refuseRepetition([...before, text])
  return [...before, text]
}

const hour = 3_600_000
const mostSeconds = 2 ** 32

function tokenLifetime(text: string): number {
  const milliseconds = duration(text)
  if (milliseconds < hour || milliseconds > mostSeconds * 1000)
    throw new InvalidArgumentError('The lifetime of tokens is between 1 hour and 2^32 seconds.')
  return milliseconds
}
