import { type FieldError, fieldErrorBody } from '../../../framework/meta/errors.ts'
import type { KubeObject } from '../../../framework/meta/object.ts'
import { defaultCustomResourceDefinition } from '../crd.ts'

export const text = (error: FieldError): string => `${error.field}: ${fieldErrorBody(error)}`

export const schema = {
  type: 'object',
  properties: { spec: { type: 'object', properties: { color: { type: 'string' } } } },
}

export const v1 = { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } }

export const names = { plural: 'widgets', kind: 'Widget' }

export const crdOf = (spec: object = {}, more: object = {}): KubeObject =>
  defaultCustomResourceDefinition({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'widgets.example.com' },
    spec: { group: 'example.com', names, scope: 'Namespaced', versions: [v1], ...spec },
    ...more,
  })
