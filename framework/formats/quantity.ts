/** A quantity of Kubernetes, such as 100m or 1.5Gi. */
export interface Quantity {
  /** In billionths, the smallest part there is. */
  readonly nanos: bigint
  /** The power of ten it counts in; undefined where Kubernetes does not keep it as a 64-bit int of such a power. */
  readonly scale: number | undefined
}

export const quantityForm = /^([+-]?)(\d*)(?:\.(\d*))?([eEinumkKMGTP]*[-+]?\d*)$/

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

/** The exponent of ten or of two that a suffix means. */
export function exponentOf(suffix: string): { readonly base: 2 | 10; readonly exponent: number } | undefined {
  if (Object.hasOwn(decimal, suffix)) return { base: 10, exponent: decimal[suffix] ?? 0 }
  if (Object.hasOwn(binary, suffix)) return { base: 2, exponent: binary[suffix] ?? 0 }
  const match = /^[eE]([+-]?\d+)$/.exec(suffix)
  return match === null ? undefined : { base: 10, exponent: Number(match[1]) }
}

const maxInt64 = 2n ** 63n - 1n
const billion = 1_000_000_000n
const largest = maxInt64 * billion

/** The quantity that a text says, or what is wrong with it. Parts of a billionth are rounded up, away from zero. */
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

/** digits ÷ 10^decimals × the unit, in billionths rounded up. */
function magnitude(digits: bigint, decimals: number, { base, exponent }: Unit): bigint {
  const power = 9 - decimals + (base === 10 ? Math.max(-1100, Math.min(exponent, 1100)) : 0)
  const scaled = base === 2 ? digits << BigInt(exponent) : digits
  if (power >= 0) return scaled * 10n ** BigInt(power)
  const divisor = 10n ** BigInt(-power)
  return (scaled + divisor - 1n) / divisor
}

/** Kubernetes keeps a quantity of few enough digits as an int and a power of ten. */
function scaleOf(whole: string, fraction: string, { base, exponent }: Unit): number | undefined {
  if (base === 10) {
    const scale = exponent - fraction.length
    return 18 - whole.length - fraction.length >= 0 && scale >= -9 ? scale : undefined
  }
  const precision = 15 - whole.length - Math.trunc((exponent * 3) / 10) - 1
  return fraction === '' && precision >= 0 ? 0 : undefined
}
