/**
 * One requirement of a label selector. `in` and `notin` have all values; `=` is `in` with one value, `!=` is `notin`.
 */
export interface LabelRequirement {
  readonly key: string
  readonly operator: 'in' | 'notin' | 'exists' | '!' | 'gt' | 'lt'
  readonly values: readonly string[]
}

/** All requirements must match; without requirements it selects everything. */
export interface LabelSelector {
  readonly requirements: readonly LabelRequirement[]
}

/** One requirement of a field selector; the value may be empty. */
export interface FieldRequirement {
  readonly field: string
  readonly operator: '=' | '!='
  readonly value: string
}

/** Whether a requirement is about the name or the namespace, which every resource selects by and no lens changes. */
export const isKeyField = ({ field }: FieldRequirement): boolean =>
  field === 'metadata.name' || field === 'metadata.namespace'

/** All requirements must match; without requirements it selects everything. */
export interface FieldSelector {
  readonly requirements: readonly FieldRequirement[]
}

/** The selectors of a request. */
export interface Selectors {
  readonly fieldSelector?: FieldSelector
  readonly labelSelector?: LabelSelector
}

type Labels = Readonly<Record<string, string>>

const own = (labels: Labels, key: string): string | undefined =>
  Object.hasOwn(labels, key) ? labels[key] : undefined

/** The 64-bit integer that `gt` and `lt` compare; undefined if the value is not an integer. */
export function integerOf(value: string): bigint | undefined {
  if (!/^[+-]?\d+$/.test(value)) return undefined
  const integer = BigInt(value.startsWith('+') ? value.slice(1) : value)
  return BigInt.asIntN(64, integer) === integer ? integer : undefined
}

function compares(value: string | undefined, { operator, values }: LabelRequirement): boolean {
  const left = value === undefined ? undefined : integerOf(value)
  const right = integerOf(values[0] ?? '')
  if (left === undefined || right === undefined) return false
  return operator === 'gt' ? left > right : left < right
}

/** Whether the labels match one requirement. */
export function meets(labels: Labels, requirement: LabelRequirement): boolean {
  const value = own(labels, requirement.key)
  switch (requirement.operator) {
    case 'in':
      return value !== undefined && requirement.values.includes(value)
    case 'notin':
      return value === undefined || !requirement.values.includes(value)
    case 'exists':
      return value !== undefined
    case '!':
      return value === undefined
    default:
      return compares(value, requirement)
  }
}

/** Whether the labels match all requirements; true without a selector. */
export const matchesLabels = (selector: LabelSelector | undefined, labels: Labels): boolean =>
  selector === undefined || selector.requirements.every(requirement => meets(labels, requirement))

/**
 * Whether the fields match all requirements. `textOf` returns the value of a field, the empty string if it is absent.
 */
export const matchesFields = (
  selector: FieldSelector | undefined,
  textOf: (field: string) => string,
): boolean =>
  selector === undefined ||
  selector.requirements.every(
    ({ field, operator, value }) => (textOf(field) === value) === (operator === '='),
  )

/** A label selector that requires both; undefined selects everything. */
export const andLabels = (a: LabelSelector | undefined, b: LabelSelector | undefined): LabelSelector => ({
  requirements: [...(a?.requirements ?? []), ...(b?.requirements ?? [])],
})

/** A field selector that requires both; undefined selects everything. */
export const andFields = (a: FieldSelector | undefined, b: FieldSelector | undefined): FieldSelector => ({
  requirements: [...(a?.requirements ?? []), ...(b?.requirements ?? [])],
})

/** The value that the selector requires of a field with `=`. */
export const requiredField = (selector: FieldSelector | undefined, field: string): string | undefined =>
  selector?.requirements.find(term => term.field === field && term.operator === '=')?.value

/** `a=1`: selects objects with this label. */
export const labelEquals = (key: string, value: string): LabelSelector => ({
  requirements: [{ key, operator: 'in', values: [value] }],
})

/** `metadata.name=x`: selects objects with this field value. */
export const fieldEquals = (field: string, value: string): FieldSelector => ({
  requirements: [{ field, operator: '=', value }],
})

function formatRequirement({ key, operator, values }: LabelRequirement): string {
  const [value = ''] = values
  switch (operator) {
    case 'exists':
      return key
    case '!':
      return `!${key}`
    case 'gt':
      return `${key}>${value}`
    case 'lt':
      return `${key}<${value}`
    default:
      if (values.length !== 1) return `${key} ${operator} (${values.join(',')})`
      return operator === 'in' ? `${key}=${value}` : `${key}!=${value}`
  }
}

/** The query parameter `labelSelector`; it parses to the same selector. */
export const formatLabelSelector = ({ requirements }: LabelSelector): string =>
  requirements.map(formatRequirement).join(',')

/** The query parameter `fieldSelector`; it parses to the same selector. */
export const formatFieldSelector = ({ requirements }: FieldSelector): string =>
  requirements
    .map(({ field, operator, value }) => `${field}${operator}${value.replace(/[\\,=]/g, '\\$&')}`)
    .join(',')
