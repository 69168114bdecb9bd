import { once } from 'node:events'
import { type AddressInfo, createServer, isIP } from 'node:net'
import { hostname as machineName } from 'node:os'
import { InvalidArgumentError } from 'commander'
import { type AuthorizerName, authorizerNames } from '../../authz/index.ts'
import { codeOf, StartError } from '../files/starterror.ts'
import type { AuditFlags } from './audit.ts'
import type { AccountOptions, IdentityOptions } from './authentication.ts'
import type { MountOptions } from './mounts.ts'
import type { ShardOptions } from './shard.ts'
import { textList } from './values.ts'
import type { ViewOptions } from './view.ts'

/** Where a server listens, and what clients call it. */
export interface Listening {
  readonly bindAddress: string
  /** 0: any free port. */
  readonly port: number
  readonly externalHostname?: string
}

/** The flags of `oriel start`, checked. */
export interface StartOptions
  extends Listening,
    MountOptions,
    IdentityOptions,
    AccountOptions,
    ShardOptions,
    AuditFlags,
    ViewOptions {
  readonly dataDirectory: string
  /** Host names, addresses and networks that are not public. */
  readonly webhookAllow?: readonly string[]
  readonly authorizationOrder?: readonly AuthorizerName[]
  readonly authorizationAlwaysAllowPaths?: readonly string[]
  readonly authorizationWebhookConfigFile?: string
  readonly authorizationWebhookVersion?: 'v1' | 'v1beta1'
  /** Milliseconds. */
  readonly authorizationWebhookCacheAuthorizedTtl?: number
  readonly authorizationWebhookCacheUnauthorizedTtl?: number
  readonly maxRequestsInflight: number
  readonly maxMutatingRequestsInflight: number
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

/** kcp's authorizers, in the order in which they are asked. */
export function authorizerOrder(text: string): readonly AuthorizerName[] {
  return textList(text).map(name => {
    const known = authorizerNames.find(each => each === name)
    if (known === undefined)
      throw new InvalidArgumentError(
        `invalid authorizer: ${JSON.stringify(name)}. There are ${authorizerNames.join(', ')}.`,
      )
    return known
  })
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

/** The same options with a port that is free now, where 0 asked for one. */
export async function withPort<T extends Listening>(options: T): Promise<T> {
  if (options.port !== 0) return options
  const probe = createServer().listen(0, options.bindAddress)
  await once(probe, 'listening').catch(error => {
    throw listenError(error, options)
  })
  const { port } = probe.address() as AddressInfo
  await new Promise(done => void probe.close(done))
  return { ...options, port }
}

/** What a port that could not be had means for the flags. */
export function listenError(error: unknown, { port, bindAddress }: Listening): unknown {
  switch (codeOf(error)) {
    case 'EADDRINUSE':
      return new StartError(`Port ${port} on ${bindAddress} is in use: choose another one with --port.`)
    case 'EACCES':
      return new StartError(`Port ${port} needs more rights: choose one above 1023 with --port.`)
    case 'EADDRNOTAVAIL':
      return new StartError(`${bindAddress} is no address of this machine: choose another --bind-address.`)
    default:
      return error
  }
}

/** What clients reach the server by. */
export const publicUrl = (options: Listening): string =>
  `https://${inUrl(publicHost(options))}:${options.port}`

const inUrl = (host: string): string => (isIP(host) === 6 ? `[${host}]` : host)

function publicHost({ externalHostname, bindAddress }: Listening): string {
  if (externalHostname !== undefined) return externalHostname
  return everywhere.has(bindAddress) || loopback.has(bindAddress) ? 'localhost' : bindAddress
}

/** All names and addresses for which the serving certificate must hold. */
export function servingHosts({ externalHostname, bindAddress }: Listening): readonly string[] {
  const own = ['localhost', '127.0.0.1', '::1', machineName()].filter(
    name => isIP(name) > 0 || dnsName.test(name),
  )
  const given = everywhere.has(bindAddress) ? [] : [bindAddress]
  return [...new Set([...own, ...given, ...(externalHostname === undefined ? [] : [externalHostname])])]
}
