import type { FieldError, FieldErrorType } from './errors.ts'

// Field errors, by the names of the constructors of `apimachinery/pkg/util/validation/field` (rules.md 2.19).

const fieldError = (
  type: FieldErrorType,
  field: string,
  detail: string,
  ...value: readonly unknown[]
): FieldError => (value.length === 0 ? { type, field, detail } : { type, field, detail, value: value[0] })

export const required = (field: string, detail = ''): FieldError =>
  fieldError('FieldValueRequired', field, detail)
export const forbidden = (field: string, detail: string): FieldError =>
  fieldError('FieldValueForbidden', field, detail)
export const invalidValue = (field: string, value: unknown, detail: string): FieldError =>
  fieldError('FieldValueInvalid', field, detail, value)
export const invalidType = (field: string, value: unknown, detail: string): FieldError =>
  fieldError('FieldValueTypeInvalid', field, detail, value)
export const duplicate = (field: string, value: unknown): FieldError =>
  fieldError('FieldValueDuplicate', field, '', value)
/** Duplicate value errors for values that occur earlier in the list. `fieldAt` is the path of an item. */
export const repeated = (
  values: readonly unknown[],
  fieldAt: (index: number) => string,
): readonly FieldError[] => {
  const isRepeated = repetitions()
  return values.flatMap((value, i) => (isRepeated(value) ? [duplicate(fieldAt(i), value)] : []))
}

/** Whether a value was asked about before. */
export function repetitions(): (value: unknown) => boolean {
  const seen = new Set<unknown>()
  return value => seen.size === seen.add(value).size
}

export const unsupported = (field: string, value: unknown, values: readonly string[]): FieldError =>
  fieldError(
    'FieldValueNotSupported',
    field,
    `supported values: ${values.map(v => JSON.stringify(v)).join(', ')}`,
    value,
  )
/** Kubernetes writes `bytes`, although schemas count code points. */
export const tooLong = (field: string, max: number): FieldError =>
  fieldError('FieldValueTooLong', field, `may not be more than ${max} ${max === 1 ? 'byte' : 'bytes'}`)
export const tooMany = (field: string, count: number, max: number): FieldError =>
  fieldError('FieldValueTooMany', field, `must have at most ${max} ${max === 1 ? 'item' : 'items'}`, count)

/** `a.b`; the root is the empty path. */
export const child = (path: string, name: string): string => (path === '' ? name : `${path}.${name}`)

/** One step of a path: a field or key, or an index. */
export type PathStep = string | number

/** `spec.a[0].b` */
export const formatPath = (steps: readonly PathStep[]): string =>
  steps.reduce<string>((path, s) => (typeof s === 'number' ? `${path}[${s}]` : child(path, s)), '')
