import { type Command, InvalidArgumentError } from 'commander'
import { places } from './places.ts'

/** Who is known: the flags about identities. */
export interface IdentityOptions {
  readonly tokenAuthFile?: string
  readonly clientCaFile?: string
  readonly serviceAccountKeyFile?: string
  readonly authenticationConfig?: string
  readonly trustSystemIdentities?: boolean
  /** Host names, addresses and networks that are not public. */
  readonly issuerAllow?: readonly string[]
  readonly requestheaderClientCaFile?: string
  readonly requestheaderAllowedNames?: readonly string[]
  readonly requestheaderUsernameHeaders?: readonly string[]
  readonly requestheaderGroupHeaders?: readonly string[]
  readonly requestheaderExtraHeadersPrefix?: readonly string[]
  readonly requestheaderUidHeaders?: readonly string[]
}

/** Adds the flags to a command. */
export const identityFlags = (command: Command): Command =>
  command
    .option('--token-auth-file <path>', 'users with fixed tokens: lines of token,user,uid,"group1,group2"')
    .option('--client-ca-file <path>', 'authorities whose client certificates are users, PEM')
    .option('--service-account-key-file <path>', 'what tokens of service accounts are signed with, PEM')
    .option('--authentication-config <path>', 'issuers of tokens: an AuthenticationConfiguration')
    .option('--trust-system-identities', 'let these issuers name users and groups that begin with system:')
    .option('--issuer-allow <place>', 'a host, address or network where issuers of workspaces may be', places)
    .option('--requestheader-client-ca-file <path>', 'authorities of front proxies, PEM')
    .option('--requestheader-allowed-names <names>', 'common names of front proxies; all by default', names)
    .option('--requestheader-username-headers <names>', 'where front proxies name the user', headers)
    .option('--requestheader-group-headers <names>', 'where they name a group', headers)
    .option('--requestheader-extra-headers-prefix <prefixes>', 'where they put everything else', headers)
    .option('--requestheader-uid-headers <names>', 'where they put the UID', headers)

const names = (text: string): readonly string[] => text.split(',').map(name => name.trim())

function headers(text: string): readonly string[] {
  const found = names(text)
  if (!found.every(name => /^[A-Za-z0-9-]+$/.test(name)))
    throw new InvalidArgumentError('Give names of headers, separated by commas.')
  return found
}
