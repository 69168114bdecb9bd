import { exponentOf, parseQuantity, quantityForm } from './quantity.ts'

const decimalSuffixes = ['n', 'u', 'm', '', 'k', 'M', 'G', 'T', 'P', 'E']
const binarySuffixes = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei']
const billion = 1_000_000_000n

/** How Kubernetes writes a quantity that it has read; undefined for what is none. */
export function canonicalQuantity(text: string): string | undefined {
  const quantity = parseQuantity(text)
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

/** What Kubernetes keeps as it was written. */
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

/** Without a fraction, in the largest unit that allows it: `n` to `E`, or `e<exponent>`. */
function inDecimal(nanos: bigint, withExponent: boolean): string {
  let [mantissa, unit] = [nanos, 0]
  while (mantissa % 1000n === 0n && (withExponent || unit < decimalSuffixes.length - 1)) {
    mantissa /= 1000n
    unit++
  }
  const exponent = 3 * unit - 9
  if (!withExponent) return `${mantissa}${decimalSuffixes[unit]}`
  return exponent === 0 ? String(mantissa) : `${mantissa}e${exponent}`
}
