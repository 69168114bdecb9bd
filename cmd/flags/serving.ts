import { once } from 'node:events'
import { type AddressInfo, createServer, isIP } from 'node:net'
import { hostname as machineName } from 'node:os'
import type { Command } from 'commander'
import { type LogLevel, logLevels } from '../../framework/contract/log.ts'
import { codeOf, StartError } from '../files/starterror.ts'
import { flagsBelongTogether, flagsNeed } from './rules.ts'
import { address, commonOption, hostname, isHost, portNumber } from './values.ts'

/** The address that a server listens on, and the host name in its URLs. */
export interface Listening {
  readonly bindAddress: string
  /** 0: any free port. */
  readonly port: number
  readonly externalHostname?: string
}

export interface ServingFlags extends Listening {
  readonly logLevel: LogLevel
}

/** Adds the flags to a command. */
export const addServingFlags = (command: Command, defaultPort: number): Command =>
  addHostnameFlag(
    command
      .addOption(
        commonOption('--bind-address <address>', 'IP address to listen on; 0.0.0.0 is every IPv4 address')
          .argParser(address)
          .default('127.0.0.1'),
      )
      .addOption(
        commonOption('--port <number>', 'port to listen on; 0 selects a free port')
          .argParser(portNumber)
          .default(defaultPort),
      ),
  ).addOption(
    commonOption('--log-level <level>', 'lowest level of the messages that are logged')
      .choices(logLevels)
      .default('warn'),
  )

/** The files of a serving certificate that is not generated. */
export interface CertificateFlags {
  readonly tlsCertFile?: string
  readonly tlsPrivateKeyFile?: string
}

/** Adds the flags to a command. */
export const addCertificateFlags = (command: Command): Command =>
  flagsBelongTogether(
    command
      .optionsGroup('Serving certificate:')
      .option(
        '--tls-cert-file <path>',
        'PEM file of the serving certificate (default: a generated one in the data directory)',
      )
      .option('--tls-private-key-file <path>', 'PEM file of its private key'),
    '--tls-cert-file',
    '--tls-private-key-file',
  )

export const addHostnameFlag = (command: Command): Command =>
  command.addOption(
    commonOption(
      '--external-hostname <name>',
      'host name or IP address in the URLs that clients use, e.g. oriel.example.com',
    ).argParser(hostname),
  )

export interface ViewFlags {
  readonly view?: readonly string[]
  /** A file that lists views. */
  readonly views?: string
  readonly watch?: boolean
}

/** Adds the flags to a command. */
export const addViewFlags = (command: Command): Command =>
  flagsNeed(addViewOptions(command), ['--watch'], '--view', '--views')

const addViewOptions = (command: Command): Command =>
  command
    .addOption(
      commonOption(
        '--view <module>',
        'JavaScript or TypeScript file, or installed package, with an additional view; may be repeated',
      ).argParser((module: string, before: readonly string[] = []) => [...before, module]),
    )
    .optionsGroup('Additional views:')
    .option('--views <file>', 'YAML file with additional views and their options')
    .option('--watch', 'replace additional views when their files change, for development')

const everywhere = new Set(['0.0.0.0', '::'])

/** The same flags with a free port instead of port 0. */
export async function withPort<T extends Listening>(flags: T): Promise<T> {
  if (flags.port !== 0) return flags
  const probe = createServer().listen(0, flags.bindAddress)
  await once(probe, 'listening').catch(error => {
    throw listenError(error, flags)
  })
  const { port } = probe.address() as AddressInfo
  await new Promise(done => void probe.close(done))
  return { ...flags, port }
}

/** The `StartError` for an error of `listen(2)`; other errors unchanged. */
export function listenError(error: unknown, { port, bindAddress }: Listening): unknown {
  switch (codeOf(error)) {
    case 'EADDRINUSE':
      return new StartError(`Port ${port} on ${bindAddress} is in use: choose another one with --port.`)
    case 'EACCES':
      return new StartError(`Permission denied for port ${port}: choose one above 1023 with --port.`)
    case 'EADDRNOTAVAIL':
      return new StartError(
        `${bindAddress} is not an address of this machine: choose another --bind-address.`,
      )
    default:
      return error
  }
}

/** The URL by which clients reach the server. The name `localhost` need not have the address `::1`. */
export const publicUrl = (flags: Listening): string => `https://${inUrl(publicHost(flags))}:${flags.port}`

const inUrl = (host: string): string => (isIP(host) === 6 ? `[${host}]` : host)

function publicHost({ externalHostname, bindAddress }: Listening): string {
  if (externalHostname !== undefined) return externalHostname
  return everywhere.has(bindAddress) || bindAddress === '127.0.0.1' ? 'localhost' : bindAddress
}

/** The subject alternative names of the serving certificate. */
export function servingHosts({ externalHostname, bindAddress }: Listening): readonly string[] {
  const local = ['localhost', '127.0.0.1', '::1', machineName()].filter(isHost)
  const given = everywhere.has(bindAddress) ? [] : [bindAddress]
  return [...new Set([...local, ...given, ...(externalHostname === undefined ? [] : [externalHostname])])]
}
