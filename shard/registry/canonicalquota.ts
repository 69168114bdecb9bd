import { canonicalQuantity, parseQuantity } from '../../framework/formats/quantity.ts'
import { type FieldError, invalid } from '../../framework/meta/errors.ts'
import { tooLong, tooMany } from '../../framework/meta/fielderror.ts'
import type { KubeObject } from '../../framework/meta/object.ts'
import { DecodeError } from '../../framework/wire/metadata.ts'
import type { Quantities, Quota } from './resourcequota.ts'

const quantityFields = ['hard', 'used'] as const

/** Quantities in one field, far more than there are resources to limit, and their digits together. */
const most = { quantities: 2_000, digits: 50_000 } as const

/** Quantities as Kubernetes writes them. Throws a `DecodeError` for other values, and 422 for too many of them. */
export function canonicalQuota(object: KubeObject): KubeObject {
  const { spec, status } = object as Quota
  checkSizes(object)
  const part = (fields: Quantities): Quantities =>
    mapped(fields, (value, field) => (isQuantities(field) ? canonical(value) : value))
  return { ...object, ...(spec && { spec: part(spec) }), ...(status && { status: part(status) }) }
}

function checkSizes(object: KubeObject): void {
  const { spec, status } = object as Quota
  const errors = [
    ...sizeErrors(spec?.hard, 'spec.hard'),
    ...quantityFields.flatMap(field => sizeErrors(status?.[field], `status.${field}`)),
  ]
  if (errors.length > 0) throw invalid(object.kind, '', object.metadata.name ?? '', errors)
}

function sizeErrors(quantities: unknown, path: string): readonly FieldError[] {
  if (typeof quantities !== 'object' || quantities === null) return []
  const values = Object.values(quantities)
  if (values.length > most.quantities) return [tooMany(path, values.length, most.quantities)]
  const digits = values.reduce<number>((sum, value) => sum + digitsOf(value), 0)
  return digits > most.digits ? [tooLong(path, most.digits)] : []
}

/** About as many digits as the quantity has without an exponent. */
function digitsOf(value: unknown): number {
  if (typeof value !== 'string') return 0
  const [, exponent = '0'] = /[eE][+-]?(\d{1,4})\s*$/.exec(value) ?? []
  return value.length + Number(exponent)
}

const mapped = (fields: Quantities, change: (value: unknown, name: string) => unknown): Quantities =>
  Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, change(value, name)]))

const isQuantities = (field: string): boolean => quantityFields.some(name => name === field)

const canonical = (quantities: unknown): unknown =>
  typeof quantities === 'object' && quantities !== null
    ? mapped(quantities as Quantities, value => written(value))
    : quantities

const thousandth = 1_000_000n

/** Texts and numbers are quantities; null is 0. */
function written(value: unknown): string {
  const isPlain = typeof value === 'string' || typeof value === 'number' || typeof value === 'bigint'
  const text = isPlain ? String(value).trim() : value === null ? '0' : ''
  const quantity = parseQuantity(text)
  if (typeof quantity === 'string') throw new DecodeError(quantity)
  const rounded = inThousandths(text, quantity.nanos)
  return (rounded === text ? canonicalQuantity(text, quantity) : canonicalQuantity(rounded)) ?? text
}

/** Smaller parts are rounded up, away from zero. */
function inThousandths(text: string, nanos: bigint): string {
  const rest = nanos % thousandth
  if (rest === 0n) return text
  const rounded = nanos / thousandth + (rest < 0n ? -1n : 1n)
  return `${rounded}${/[eE][+-]?\d+$/.test(text) ? 'e-3' : 'm'}`
}
