import { canonicalQuantity, parseQuantity } from '../../framework/formats/quantity.ts'
import type { FieldError } from '../../framework/meta/errors.ts'
import { invalidValue } from '../../framework/meta/fielderror.ts'
import { qualifiedNameErrors } from '../../framework/meta/names.ts'
import type { KubeObject } from '../../framework/meta/object.ts'
import { DecodeError } from '../../framework/wire/metadata.ts'

type Quantities = Readonly<Record<string, unknown>>

interface Quota extends KubeObject {
  readonly spec?: { readonly hard?: Quantities }
  readonly status?: { readonly hard?: Quantities; readonly used?: Quantities }
}

const quantityFields = ['hard', 'used'] as const

/** Quantities as Kubernetes writes them. Throws a `DecodeError` for other values. */
export function canonicalQuota(object: KubeObject): KubeObject {
  const { spec, status } = object as Quota
  const part = (fields: Quantities): Quantities =>
    mapped(fields, (value, field) => (isQuantities(field) ? canonical(value) : value))
  return { ...object, ...(spec && { spec: part(spec) }), ...(status && { status: part(status) }) }
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
  return canonicalQuantity(inThousandths(text, quantity.nanos)) ?? text
}

/** Smaller parts are rounded up, away from zero. */
function inThousandths(text: string, nanos: bigint): string {
  const rest = nanos % thousandth
  if (rest === 0n) return text
  const rounded = nanos / thousandth + (rest < 0n ? -1n : 1n)
  return `${rounded}${/[eE][+-]?\d+$/.test(text) ? 'e-3' : 'm'}`
}

const counted = new Set([
  ...['pods', 'resourcequotas', 'services', 'replicationcontrollers', 'secrets', 'configmaps'],
  ...['persistentvolumeclaims', 'services.nodeports', 'services.loadbalancers'],
])
const measured = new Set(
  ['cpu', 'memory', 'ephemeral-storage'].flatMap(name => [name, `requests.${name}`, `limits.${name}`]),
)
const limited = (name: string): boolean =>
  counted.has(name) ||
  measured.has(name) ||
  name === 'requests.storage' ||
  name.startsWith('requests.hugepages-') ||
  name.startsWith('hugepages-')

/** `ValidateResourceQuota` of Kubernetes. */
export const quotaErrors = (object: KubeObject): readonly FieldError[] =>
  quantityErrors((object as Quota).spec?.hard, 'spec.hard')

/** `ValidateResourceQuotaStatusUpdate` of Kubernetes. */
export const quotaStatusErrors = (object: KubeObject): readonly FieldError[] =>
  quantityFields.flatMap(field => quantityErrors((object as Quota).status?.[field], `status.${field}`))

const quantityErrors = (quantities: Quantities = {}, path: string): readonly FieldError[] =>
  Object.entries(quantities)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([name, value]) => limitErrors(name, String(value), `${path}[${name}]`))

function limitErrors(name: string, value: string, path: string): readonly FieldError[] {
  const quantity = parseQuantity(value)
  const nanos = typeof quantity === 'string' ? 0n : quantity.nanos
  const invalid = (what: string, problem: string): FieldError => invalidValue(path, what, problem)
  return [
    ...nameErrors(name).map(problem => invalid(name, problem)),
    ...(nanos < 0n ? [invalid(value, 'must be greater than or equal to 0')] : []),
    ...(isCount(name) && nanos % 1_000_000_000n !== 0n ? [invalid(value, 'must be an integer')] : []),
  ]
}

function nameErrors(name: string): readonly string[] {
  const problems = qualifiedNameErrors(name)
  if (problems.length > 0 || name.includes('/') || limited(name)) return problems
  const standard = name === 'storage' ? [] : ['must be a standard resource type or fully qualified']
  return [...standard, 'must be a standard resource for quota']
}

const isCount = (name: string): boolean =>
  counted.has(name) ||
  (name.includes('/') && !name.includes('kubernetes.io/') && !name.startsWith('requests.'))
