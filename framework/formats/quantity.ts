/** A quantity of Kubernetes, such as 100m or 1.5Gi. */
export interface Quantity {
  /** In units of 10^-9, the smallest unit. */
  readonly nanos: bigint
  /**
   * The power of ten of the unscaled value; undefined if Kubernetes does not keep the quantity as an int64 with a
   * scale.
   */
  readonly scale: number | undefined
}

const quantityForm = /^([+-]?)(\d*)(?:\.(\d*))?([eEinumkKMGTP]*[-+]?\d*)$/

const decimal: Readonly<Record<string, number>> = {
  n: -9,
  u: -6,
  m: -3,
  '': 0,
  k: 3,
  M: 6,
  G: 9,
  T: 12,
  P: 15,
  E: 18,
}

const binary: Readonly<Record<string, number>> = { Ki: 10, Mi: 20, Gi: 30, Ti: 40, Pi: 50, Ei: 60 }

const formatError =
  "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
const suffixError = "unable to parse quantity's suffix"

/** The base and exponent of a suffix. */
function exponentOf(suffix: string): { readonly base: 2 | 10; readonly exponent: number } | undefined {
  if (Object.hasOwn(decimal, suffix)) return { base: 10, exponent: decimal[suffix] ?? 0 }
  if (Object.hasOwn(binary, suffix)) return { base: 2, exponent: binary[suffix] ?? 0 }
  const match = /^[eE]([+-]?\d+)$/.exec(suffix)
  return match === null ? undefined : { base: 10, exponent: Number(match[1]) }
}

const maxInt64 = 2n ** 63n - 1n
const billion = 1_000_000_000n
const largest = maxInt64 * billion

/**
 * Parses a quantity (`resource.ParseQuantity`); returns the error message for an invalid one. Values below 10^-9 are
 * rounded away from zero.
 */
export function parseQuantity(text: string): Quantity | string {
  if (text.length > 1000) return formatError
  const match = quantityForm.exec(text)
  if (match === null) return formatError
  const [, sign = '', whole = '', fraction = '', suffix = ''] = match
  if (whole === '' && fraction === '') return formatError
  const unit = exponentOf(suffix)
  if (unit === undefined) return suffixError
  const size = magnitude(BigInt(whole + fraction), fraction.length, unit)
  const capped = unit.base === 2 && size > largest ? largest : size
  const scale = scaleOf(whole.replace(/^0+/, ''), fraction.replace(/0+$/, ''), unit)
  return { nanos: sign === '-' ? -capped : capped, scale: capped < size ? undefined : scale }
}

interface Unit {
  readonly base: 2 | 10
  readonly exponent: number
}

const powers: bigint[] = []

/** Large powers take as long as the rest of parsing. At most some thousand are kept. */
function tenTo(power: number): bigint {
  const known = powers[power] ?? 10n ** BigInt(power)
  powers[power] = known
  return known
}

/** digits ÷ 10^decimals × the unit, in units of 10^-9, rounded up. */
function magnitude(digits: bigint, decimals: number, { base, exponent }: Unit): bigint {
  const power = 9 - decimals + (base === 10 ? Math.max(-1100, Math.min(exponent, 1100)) : 0)
  const scaled = base === 2 ? digits << BigInt(exponent) : digits
  if (power >= 0) return scaled * tenTo(power)
  const divisor = tenTo(-power)
  return (scaled + divisor - 1n) / divisor
}

/** Kubernetes keeps a quantity with few enough digits as an int64 and a scale. */
function scaleOf(whole: string, fraction: string, { base, exponent }: Unit): number | undefined {
  if (base === 10) {
    const scale = exponent - fraction.length
    return 18 - whole.length - fraction.length >= 0 && scale >= -9 ? scale : undefined
  }
  const precision = 15 - whole.length - Math.trunc((exponent * 3) / 10) - 1
  return fraction === '' && precision >= 0 ? 0 : undefined
}

const decimalSuffixes = ['n', 'u', 'm', '', 'k', 'M', 'G', 'T', 'P', 'E']
const binarySuffixes = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei']

/** The canonical form in which Kubernetes writes a quantity; undefined for an invalid one. `quantity`: the parsed text. */
export function canonicalQuantity(text: string, quantity = parseQuantity(text)): string | undefined {
  const [, , whole = '', fraction = '', suffix = ''] = quantityForm.exec(text) ?? []
  if (typeof quantity === 'string') return undefined
  if (isCanonical(whole, fraction, suffix)) return text
  const { nanos } = quantity
  if (nanos === 0n) return '0'
  const size = nanos < 0n ? -nanos : nanos
  const sign = nanos < 0n ? '-' : ''
  const isBinary = suffix.endsWith('i') && size >= 1024n * billion && size % billion === 0n
  return sign + (isBinary ? inBinary(size / billion) : inDecimal(size, /^[eE].*\d$/.test(suffix)))
}

/** Kubernetes keeps the text of such a quantity. */
function isCanonical(whole: string, fraction: string, suffix: string): boolean {
  const { base = 10, exponent = 0 } = exponentOf(suffix) ?? {}
  const digits = (whole.replace(/^0+/, '') || '0') + fraction
  if (base === 2) {
    const precision = 15 - digits.length - Math.trunc((exponent * 3) / 10) - 1
    return fraction === '' && precision >= 0 && BigInt(digits) % 8n !== 0n
  }
  const scale = exponent - fraction.length
  const isExact = digits.length <= 18 && scale >= -9
  return isExact && scale % 3 === 0 && !digits.endsWith('000') && !digits.startsWith('0')
}

function inBinary(value: bigint): string {
  let [mantissa, power] = [value, 0]
  while (mantissa % 1024n === 0n && power < binarySuffixes.length - 1) {
    mantissa /= 1024n
    power++
  }
  return `${mantissa}${binarySuffixes[power]}`
}

/** Without a fraction, with the largest suffix that allows it: `n` to `E`, or `e<exponent>`. */
function inDecimal(nanos: bigint, withExponent: boolean): string {
  const digits = String(nanos)
  let end = digits.length
  while (digits[end - 1] === '0') end--
  const thousands = Math.trunc((digits.length - end) / 3)
  const unit = withExponent ? thousands : Math.min(thousands, decimalSuffixes.length - 1)
  const mantissa = digits.slice(0, digits.length - 3 * unit)
  const exponent = 3 * unit - 9
  if (!withExponent) return `${mantissa}${decimalSuffixes[unit]}`
  return exponent === 0 ? mantissa : `${mantissa}e${exponent}`
}
