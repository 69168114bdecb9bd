import type { Command } from 'commander'
import { places } from './places.ts'
import { type RequestHeaderFlags, requestHeaderFlags } from './requestheaderflags.ts'

/** Who is known: the flags about identities. */
export interface IdentityOptions extends RequestHeaderFlags {
  readonly tokenAuthFile?: string
  readonly clientCaFile?: string
  readonly serviceAccountKeyFile?: string
  readonly authenticationConfig?: string
  readonly trustSystemIdentities?: boolean
  /** Host names, addresses and networks that are not public. */
  readonly issuerAllow?: readonly string[]
}

/** Adds the flags to a command. */
export const identityFlags = (command: Command): Command =>
  requestHeaderFlags(command)
    .option('--token-auth-file <path>', 'users with fixed tokens: lines of token,user,uid,"group1,group2"')
    .option('--client-ca-file <path>', 'authorities whose client certificates are users, PEM')
    .option('--service-account-key-file <path>', 'what tokens of service accounts are signed with, PEM')
    .option('--authentication-config <path>', 'issuers of tokens: an AuthenticationConfiguration')
    .option('--trust-system-identities', 'let these issuers name users and groups that begin with system:')
    .option('--issuer-allow <place>', 'a host, address or network where issuers of workspaces may be', places)
