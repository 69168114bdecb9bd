import {
  type Address,
  addressText,
  isGlobalUnicast,
  isLinkLocalMulticast,
  isLinkLocalUnicast,
  isLoopback,
  isMapped,
  isUnspecified,
  masked,
  parseAddress,
} from '../../framework/formats/ip.ts'
import { declare, type FunctionDecl, type FunctionOp, member, overload } from '../values/declaration.ts'
import { boolType, intType, opaqueType, stringType } from '../values/type.ts'
import { CelError, type CelValue, type OpaqueValue } from '../values/value.ts'

const ipType = opaqueType('net.IP')
const cidrType = opaqueType('net.CIDR')

const sameBytes = (a: Address, b: Address): boolean => Buffer.compare(a, b) === 0

class Ip implements OpaqueValue {
  readonly opaque = ipType
  readonly address: Address
  constructor(address: Address) {
    this.address = address
  }
  get size(): number {
    return Math.ceil(this.address.length)
  }
  equals(other: OpaqueValue): boolean {
    return other instanceof Ip && sameBytes(other.address, this.address)
  }
}

class Cidr implements OpaqueValue {
  readonly opaque = cidrType
  readonly address: Address
  readonly bits: number
  constructor(address: Address, bits: number) {
    this.address = address
    this.bits = bits
  }
  get size(): number {
    return Math.ceil(this.bits / 8)
  }
  equals(other: OpaqueValue): boolean {
    return other instanceof Cidr && this.bits === other.bits && sameBytes(other.address, this.address)
  }
  contains(address: Address): boolean {
    return (
      address.length === this.address.length &&
      sameBytes(masked(address, this.bits), masked(this.address, this.bits))
    )
  }
}

function readIp(text: string): Ip | CelError {
  const shown = JSON.stringify(text)
  const address = parseAddress(text)
  if (typeof address === 'string')
    return new CelError(`IP Address ${shown} parse error during conversion from string: ${address}`)
  if (text.includes('%')) return new CelError(`IP address ${shown} with zone value is not allowed`)
  if (isMapped(address)) return new CelError(`IPv4-mapped IPv6 address ${shown} is not allowed`)
  return new Ip(address)
}

const conversion = 'network address parse error during conversion from string: '

function readCidr(text: string): Cidr | CelError {
  const fail = (why: string): CelError =>
    new CelError(`${conversion}${conversion}netip.ParsePrefix(${JSON.stringify(text)}): ${why}`)
  const slash = text.lastIndexOf('/')
  if (slash < 0) return fail("no '/'")
  const address = parseAddress(text.slice(0, slash))
  if (typeof address === 'string') return fail(address)
  if (text.includes('%')) return fail('IPv6 zones cannot be present in a prefix')
  const bits = text.slice(slash + 1)
  if (!/^(?:0|[1-9]\d*)$/.test(bits)) return fail(`bad bits after slash: ${JSON.stringify(bits)}`)
  if (Number(bits) > address.length * 8) return fail('prefix length out of range')
  if (isMapped(address))
    return new CelError(`${conversion}IPv4-mapped IPv6 address ${JSON.stringify(text)} is not allowed`)
  return new Cidr(address, Number(bits))
}

const isCanonical: FunctionOp = ([text]) => {
  const ip = readIp(String(text))
  return ip instanceof CelError ? ip : addressText(ip.address) === text
}

const containsIp: FunctionOp = ([cidr, other]) => {
  const ip = typeof other === 'string' ? readIp(other) : other
  return ip instanceof Ip ? (cidr as Cidr).contains(ip.address) : (ip as CelValue)
}

const containsCidr: FunctionOp = ([cidr, other]) => {
  const inner = typeof other === 'string' ? readCidr(other) : other
  if (!(inner instanceof Cidr)) return inner as CelValue
  return (cidr as Cidr).bits <= inner.bits && (cidr as Cidr).contains(inner.address)
}

const test = (name: string, id: string, holds: (address: Address) => boolean): FunctionDecl =>
  declare(
    name,
    member(id, [ipType], boolType, ([ip]) => holds((ip as Ip).address)),
  )

export const ip: readonly FunctionDecl[] = [
  declare(
    'ip',
    overload('string_to_ip', [stringType], ipType, ([text]) => readIp(String(text))),
    member('cidr_ip', [cidrType], ipType, ([cidr]) => new Ip((cidr as Cidr).address)),
  ),
  declare(
    'isIP',
    overload('is_ip', [stringType], boolType, ([text]) => readIp(String(text)) instanceof Ip),
  ),
  declare('ip.isCanonical', overload('ip_is_canonical', [stringType], boolType, isCanonical)),
  declare(
    'family',
    member('ip_family', [ipType], intType, ([ip]) => ((ip as Ip).address.length === 4 ? 4 : 6)),
  ),
  test('isUnspecified', 'ip_is_unspecified', isUnspecified),
  test('isLoopback', 'ip_is_loopback', isLoopback),
  test('isLinkLocalMulticast', 'ip_is_link_local_multicast', isLinkLocalMulticast),
  test('isLinkLocalUnicast', 'ip_is_link_local_unicast', isLinkLocalUnicast),
  test('isGlobalUnicast', 'ip_is_global_unicast', isGlobalUnicast),
  declare(
    'string',
    overload('ip_to_string', [ipType], stringType, ([ip]) => addressText((ip as Ip).address)),
    overload(
      'cidr_to_string',
      [cidrType],
      stringType,
      ([cidr]) => `${addressText((cidr as Cidr).address)}/${(cidr as Cidr).bits}`,
    ),
  ),
  declare(
    'cidr',
    overload('string_to_cidr', [stringType], cidrType, ([text]) => readCidr(String(text))),
  ),
  declare(
    'isCIDR',
    overload('is_cidr', [stringType], boolType, ([text]) => readCidr(String(text)) instanceof Cidr),
  ),
  declare(
    'containsIP',
    member('cidr_contains_ip_string', [cidrType, stringType], boolType, containsIp),
    member('cidr_contains_ip_ip', [cidrType, ipType], boolType, containsIp),
  ),
  declare(
    'containsCIDR',
    member('cidr_contains_cidr_string', [cidrType, stringType], boolType, containsCidr),
    member('cidr_contains_cidr', [cidrType, cidrType], boolType, containsCidr),
  ),
  declare(
    'prefixLength',
    member('cidr_prefix_length', [cidrType], intType, ([cidr]) => (cidr as Cidr).bits),
  ),
  declare(
    'masked',
    member('cidr_masked', [cidrType], cidrType, ([cidr]) => {
      const { address, bits } = cidr as Cidr
      return new Cidr(masked(address, bits), bits)
    }),
  ),
]
