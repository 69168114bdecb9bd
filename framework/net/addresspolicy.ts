import { BlockList, isIP, type LookupFunction } from 'node:net'
import { addressesTo, Lookups } from './lookups.ts'

/** Host names, addresses and networks (`10.1.0.0/16`) for the servers that tenants name. */
export interface AddressRules {
  /** Allowed although they are not public. */
  readonly allow: readonly string[]
  /** Refused, also when `allow` contains them. */
  readonly deny?: readonly string[]
  /** Hosts, addresses and networks that may get the bearer tokens of clients. */
  readonly identity?: readonly string[]
  /** Allows URLs without TLS, for tests and closed networks. */
  readonly allowHttp?: boolean
  /** The flags that set these rules, for the texts of refusals. */
  readonly flags?: AddressFlags
}

/** Names of flags: `--mount-allow`, and the command that has them, `oriel start`. */
export interface AddressFlags {
  readonly command: string
  readonly allow: string
  readonly deny?: string
  readonly allowHttp?: string
  readonly identity?: string
}

/** Decides to which addresses requests for tenants may connect. */
export interface AddressPolicy {
  /** Why a URL is refused, in one sentence; undefined when it is allowed. */
  problemOf(url: string): string | undefined
  /** Why a URL must not get the bearer tokens of clients; undefined when it may. */
  tokenProblemOf(url: string): string | undefined
  /** Like `problemOf`, after a lookup of the host; also undefined for a host that is unknown, or unknown for two seconds. */
  refusalOf(url: string): Promise<string | undefined>
  /** Resolves a host name to its allowed addresses. The client connects to these, so that a second lookup cannot differ. */
  readonly lookup: LookupFunction
}

/** Loopback, private, link-local (metadata services of clouds), site-local, multicast, and IPv6 addresses that contain IPv4 ones. */
const notPublic: readonly string[] = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '224.0.0.0/3',
  '::/96',
  '::ffff:0:0:0/96',
  '64:ff9b::/96',
  '64:ff9b:1::/48',
  '2001::/32',
  '2002::/16',
  'fc00::/7',
  'fe80::/10',
  'fec0::/10',
  'ff00::/8',
]

interface RuleSet {
  readonly names: ReadonlySet<string>
  readonly networks: BlockList
}

/** Throws an `Error` of one sentence for a text that is not a host name, an address or a network. */
export function parseAddressRules(texts: readonly string[]): RuleSet {
  const names = new Set<string>()
  const networks = new BlockList()
  for (const text of texts) {
    const [address = '', bits] = text.split('/')
    const family = isIP(address)
    if (family !== 0) addNetwork(networks, text, { address, family, bits })
    else if (/^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/i.test(text)) names.add(text.toLowerCase())
    else throw new Error(`"${text}" is neither a host name nor an address nor a network such as 10.1.0.0/16`)
  }
  return { names, networks }
}

interface Network {
  readonly address: string
  readonly family: number
  readonly bits: string | undefined
}

function addNetwork(networks: BlockList, text: string, { address, family, bits }: Network): void {
  const most = family === 6 ? 128 : 32
  const length = bits === undefined ? most : Number(bits)
  if (!/^\d{1,3}$/.test(bits ?? '0') || length > most)
    throw new Error(`"${text}" is not a network: the prefix length must be 0 to ${most}`)
  networks.addSubnet(address, length, family === 6 ? 'ipv6' : 'ipv4')
}

const holds = (networks: BlockList, address: string): boolean =>
  networks.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4')

/** The default allows https to public addresses only. */
export function createAddressPolicy(rules: AddressRules): AddressPolicy {
  const allowed = parseAddressRules(rules.allow)
  const denied = parseAddressRules(rules.deny ?? [])
  const hidden = parseAddressRules(notPublic)
  const refused = refusalsOf(rules.flags)
  const refusal = (host: string, address: string): string | undefined => {
    if (holds(denied.networks, address)) return refused.denied(host)
    const isOpen =
      allowed.names.has(host) || holds(allowed.networks, address) || !holds(hidden.networks, address)
    return isOpen ? undefined : refused.notPublic(host)
  }
  const problemOf = (text: string): string | undefined => {
    const url = URL.canParse(text) ? new URL(text) : undefined
    if (url === undefined) return 'it is not an absolute URL'
    if (url.protocol !== 'https:' && !(url.protocol === 'http:' && rules.allowHttp === true))
      return refused.scheme
    if (url.username !== '' || url.password !== '') return 'it has credentials in it'
    if (url.search !== '' || url.hash !== '') return 'it has a query or a fragment'
    const host = hostOf(url)
    if (denied.names.has(host)) return refused.denied(host)
    return isIP(host) === 0 ? undefined : refusal(host, host)
  }
  const { resolve } = new Lookups()
  const lookup: LookupFunction = (host, options, callback) => {
    resolve(host, options, (error, found) => {
      if (error !== null) return callback(error, '')
      const problems = found.map(({ address }) => refusal(host.toLowerCase(), address))
      const open = found.filter((_, i) => problems[i] === undefined)
      if (open.length === 0) return callback(new AddressRefused(problems[0]), '')
      addressesTo(callback, options, open)
    })
  }
  return {
    problemOf,
    tokenProblemOf: tokenRules(rules),
    lookup,
    refusalOf: async url => problemOf(url) ?? (await lookedUp(lookup, hostOf(new URL(url)))),
  }
}

/** Decides by the name in the URL, which the certificate of the server is verified with. */
function tokenRules({ identity = [], flags }: AddressRules): AddressPolicy['tokenProblemOf'] {
  const trusted = parseAddressRules(identity)
  return text => {
    const url = new URL(text)
    const host = hostOf(url)
    const isTrusted = isIP(host) === 0 ? trusted.names.has(host) : holds(trusted.networks, host)
    return isTrusted && url.protocol === 'https:' ? undefined : refusalsOf(flags).token(host)
  }
}

interface Refusals {
  readonly scheme: string
  denied(host: string): string
  notPublic(host: string): string
  token(host: string): string
}

/** Each text continues `the URL is refused: `. */
function refusalsOf(flags: AddressFlags | undefined): Refusals {
  const set = (flag: string | undefined, effect: string): string =>
    flags === undefined || flag === undefined ? '' : `: ${flag} of ${flags.command} ${effect}`
  return {
    scheme: `its scheme is not https${set(flags?.allowHttp, 'allows http')}`,
    denied: host => `its host ${host} is denied${set(flags?.deny, 'lists it')}`,
    notPublic: host =>
      `its host ${host} has no public address${set(flags && `${flags.allow} ${host}`, 'allows it')}`,
    token: host =>
      `its host ${host} must not get tokens of users${set(flags?.identity && `${flags.identity} ${host}`, 'allows it, with https')}`,
  }
}

/** Milliseconds. */
const longestLookup = 2_000

/** The text of the refusal. An unknown host is not refused: it may become known. */
function lookedUp(lookup: LookupFunction, host: string): Promise<string | undefined> {
  return new Promise(resolve => {
    const timer = setTimeout(() => resolve(undefined), longestLookup)
    lookup(host, { all: true }, error => {
      clearTimeout(timer)
      resolve(error instanceof AddressRefused ? error.message : undefined)
    })
  })
}

/** A host name has no allowed address. */
export class AddressRefused extends Error {
  override readonly name = 'AddressRefused'
}

/** In lower case, without brackets and without a dot at its end. */
const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '')
