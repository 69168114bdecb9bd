import { isIP } from 'node:net'
import { hostname as machineName } from 'node:os'
import { InvalidArgumentError } from 'commander'
import { StartError } from './starterror.ts'

/** The flags of `oriel start`, checked. */
export interface StartOptions {
  readonly dataDirectory: string
  readonly bindAddress: string
  /** 0: any free port. */
  readonly port: number
  readonly externalHostname?: string
  readonly tokenAuthFile?: string
  readonly clientCaFile?: string
  readonly logLevel: (typeof logLevels)[number]
  /** `memory:` or the directory of an LMDB environment; absent: `store` in the data directory. */
  readonly store?: string
}

export const logLevels = ['debug', 'info', 'warn', 'error', 'silent'] as const

export function portNumber(text: string): number {
  const port = Number(text)
  if (!/^\d+$/.test(text) || port > 65535)
    throw new InvalidArgumentError('A port is a number from 0 to 65535.')
  return port
}

export function address(text: string): string {
  if (isIP(text) === 0)
    throw new InvalidArgumentError('An address is an IPv4 or IPv6 address, such as 127.0.0.1.')
  return text
}

const dnsName = /^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/i

export function hostname(text: string): string {
  if (isIP(text) === 0 && !dnsName.test(text))
    throw new InvalidArgumentError('A host name has no scheme, port or path: oriel.example.com.')
  return text
}

const everywhere = new Set(['0.0.0.0', '::'])
const loopback = new Set(['127.0.0.1', '::1'])

/** Throws `StartError` on flags that contradict each other. */
export function checkOptions({ port, externalHostname, bindAddress }: StartOptions): void {
  if (port === 0 && (externalHostname !== undefined || everywhere.has(bindAddress)))
    throw new StartError('Clients cannot be told a port that is not known yet: give a --port other than 0.')
}

/** What clients reach the server by; undefined with port 0: the address that it listens on. */
export const startUrl = (options: StartOptions): string | undefined =>
  options.port === 0 ? undefined : `https://${inUrl(publicHost(options))}:${options.port}`

const inUrl = (host: string): string => (isIP(host) === 6 ? `[${host}]` : host)

function publicHost({ externalHostname, bindAddress }: StartOptions): string {
  if (externalHostname !== undefined) return externalHostname
  return everywhere.has(bindAddress) || loopback.has(bindAddress) ? 'localhost' : bindAddress
}

/** All names and addresses for which the serving certificate must hold. */
export function servingHosts({ externalHostname, bindAddress }: StartOptions): readonly string[] {
  const own = ['localhost', '127.0.0.1', '::1', machineName()].filter(
    name => isIP(name) > 0 || dnsName.test(name),
  )
  const given = everywhere.has(bindAddress) ? [] : [bindAddress]
  return [...new Set([...own, ...given, ...(externalHostname === undefined ? [] : [externalHostname])])]
}
