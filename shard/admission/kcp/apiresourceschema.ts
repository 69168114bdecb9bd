import { isDeepStrictEqual } from 'node:util'
import type { AdmissionPlugin } from '../../../framework/contract/admission.ts'
import { type FieldError, fieldErrorBody } from '../../../framework/meta/errors.ts'
import type { KubeObject } from '../../../framework/meta/object.ts'
import { concerns, refused } from './refusal.ts'

/** Everything that is wrong with a new schema. */
export type SchemaCheck = (schema: KubeObject) => readonly FieldError[]

/** A schema is valid, and never changes (chapter 20, section 5.1). */
export const apiResourceSchemaAdmission = (check: SchemaCheck): AdmissionPlugin => ({
  name: 'tenancy.kcp.io/APIResourceSchema',
  handles: { resources: ['apiresourceschemas.apis.kcp.io'] },
  validate(_ctx, request) {
    const { object, old } = request
    if (!concerns(request, 'apiresourceschemas.apis.kcp.io', ['CREATE', 'UPDATE']) || object === undefined)
      return
    const errors = old === undefined ? check(object) : changeErrors(object, old)
    if (errors.length === 0) return
    const texts = errors.map(error => `${error.field}: ${fieldErrorBody(error)}`)
    throw refused(request, `[${texts.join(' ')}]`)
  },
})

const changeErrors = (next: KubeObject, old: KubeObject): readonly FieldError[] =>
  isDeepStrictEqual(next.spec, old.spec)
    ? []
    : [{ type: 'FieldValueInvalid', field: 'spec', value: next.spec, detail: 'is immutable' }]
