import type { Command } from 'commander'
import { places } from './values.ts'

/** Which servers may be mounted; the flags of whatever passes requests on. */
export interface MountOptions {
  /** Host names, addresses and networks that are not public. */
  readonly mountAllow?: readonly string[]
  readonly mountDeny?: readonly string[]
  readonly mountAllowHttp?: boolean
  readonly mountCaFile?: string
}

/** Adds the flags to a command. */
export const mountFlags = (command: Command): Command =>
  command
    .option(
      '--mount-allow <place>',
      'a host, address or network that may be mounted although it is not public',
      places,
    )
    .option('--mount-deny <place>', 'a host, address or network that must not be mounted', places)
    .option('--mount-allow-http', 'let servers without TLS be mounted')
    .option('--mount-ca-file <path>', 'authorities of mounted servers besides the well-known ones, PEM')
