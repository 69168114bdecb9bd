import type { FieldError } from '../../meta/errors.ts'

export const invalid = (field: string, value: unknown, detail: string): FieldError => ({
  type: 'FieldValueInvalid',
  field,
  value,
  detail,
})

export const required = (field: string, detail: string): FieldError => ({
  type: 'FieldValueRequired',
  field,
  detail,
})
