import { type Command, Option } from 'commander'
import type { WebhookTokensOptions } from '../framework/authn/index.ts'
import type { IssuerOptions } from './issuers.ts'
import { openIdFlags } from './openidflags.ts'
import { type RequestHeaderFlags, requestHeaderFlags } from './requestheaderflags.ts'
import { duration, places, truth } from './values.ts'

/** Who is known: the flags about identities. */
export interface IdentityOptions extends RequestHeaderFlags, IssuerOptions {
  readonly tokenAuthFile?: string
  readonly authenticationTokenWebhookConfigFile?: string
  readonly authenticationTokenWebhookVersion?: WebhookTokensOptions['version']
  /** Milliseconds. */
  readonly authenticationTokenWebhookCacheTtl?: number
  readonly clientCaFile?: string
  readonly trustSystemIdentities?: boolean
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
    .option('--trust-system-identities', 'let these issuers name users and groups that begin with system:')

/** Who is known in logical clusters only. */
export interface AccountOptions {
  readonly serviceAccountKeyFile?: string
  /** Host names, addresses and networks that are not public. */
  readonly issuerAllow?: readonly string[]
}

/** Adds the flags to a command. */
export const accountFlags = (command: Command): Command =>
  command
    .option('--anonymous-auth <boolean>', 'let in who has no credentials, as system:anonymous', truth)
    .option('--service-account-key-file <path>', 'what tokens of service accounts are signed with, PEM')
    .option('--issuer-allow <place>', 'a host, address or network where issuers of workspaces may be', places)
