import { type Command, InvalidArgumentError } from 'commander'

/** Whom front proxies vouch for. */
export interface RequestHeaderFlags {
  readonly requestheaderClientCaFile?: string
  readonly requestheaderAllowedNames?: readonly string[]
  readonly requestheaderUsernameHeaders?: readonly string[]
  readonly requestheaderGroupHeaders?: readonly string[]
  readonly requestheaderExtraHeadersPrefix?: readonly string[]
  readonly requestheaderUidHeaders?: readonly string[]
}

/** Adds the flags to a command. */
export const requestHeaderFlags = (command: Command): Command =>
  command
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
