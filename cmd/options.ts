import { isIP } from 'node:net'
import { InvalidArgumentError } from 'commander'

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

export function hostname(text: string): string {
  const labels = /^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/i
  if (isIP(text) === 0 && !labels.test(text))
    throw new InvalidArgumentError('A host name has no scheme, port or path: oriel.example.com.')
  return text
}

const everywhere = new Set(['0.0.0.0', '::'])

/** The name under which clients reach the server: what URLs and the certificate are made with. */
export function publicHostname({ externalHostname, bindAddress }: StartOptions): string {
  if (externalHostname !== undefined) return externalHostname
  return everywhere.has(bindAddress) || bindAddress === '127.0.0.1' || bindAddress === '::1'
    ? 'localhost'
    : bindAddress
}

/** `https://host:port`, with brackets around IPv6 addresses. */
export const baseUrl = (host: string, port: number): string =>
  `https://${isIP(host) === 6 ? `[${host}]` : host}${port === 443 ? '' : `:${port}`}`
