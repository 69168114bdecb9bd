import { type Command, Option } from 'commander'

/** Files of the keys of service account tokens. */
export interface AccountKeyFlags {
  readonly serviceAccountKeyFile?: string
  readonly serviceAccountSigningKeyFile?: string
  /** kcp's name for the key of tokens in secrets. */
  readonly serviceAccountPrivateKeyFile?: string
}

/** Adds the flags to a command. */
export const addAccountKeyFlags = (command: Command): Command =>
  command
    .option(
      '--service-account-key-file <path>',
      'PEM file of keys that verify service account tokens; without --service-account-signing-key-file, its first private key signs them (default: sa.key in the data directory)',
    )
    .option(
      '--service-account-signing-key-file <path>',
      'PEM file of the private key that signs service account tokens',
    )
    .addOption(
      new Option(
        '--service-account-private-key-file <path>',
        'the same as --service-account-signing-key-file, which takes precedence',
      ).helpGroup('Names of kcp:'),
    )
