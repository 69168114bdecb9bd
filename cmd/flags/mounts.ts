import type { Command } from 'commander'
import { networks } from './values.ts'

/** The servers that may be mounted. */
export interface MountFlags {
  /** Host names, IP addresses and networks that are not public. */
  readonly mountAllow?: readonly string[]
  readonly mountDeny?: readonly string[]
  readonly mountAllowHttp?: boolean
  readonly mountCaFile?: string
  /** Host names, IP addresses and networks that may get the tokens of users. */
  readonly mountForwardIdentity?: readonly string[]
}

/** Adds the flags to a command. */
export const addMountFlags = (command: Command): Command =>
  command
    .optionsGroup('Mounts:')
    .option(
      '--mount-allow <address>',
      'private host, IP address or network (e.g. 10.1.0.0/16) that may be mounted; may be repeated',
      networks,
    )
    .option(
      '--mount-deny <address>',
      'host, IP address or network that must not be mounted; may be repeated',
      networks,
    )
    .option(
      '--mount-forward-identity <address>',
      'host, IP address or network that gets the tokens of users, if the mount wants it; may be repeated',
      networks,
    )
    .option('--mount-allow-http', 'allow mounts of servers without TLS')
    .option(
      '--mount-ca-file <path>',
      'PEM file of certificate authorities of mounted servers, in addition to the public ones',
    )
