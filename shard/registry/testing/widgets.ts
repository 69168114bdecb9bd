import { fieldErrorBody } from '../../../framework/meta/errors.ts'
import type { KubeObject, Metadata } from '../../../framework/meta/object.ts'
import type { newMetadataErrors } from '../metadata.ts'
import { customTraits, traitsOf } from '../reststrategy.ts'
import type { Strategy } from '../strategy.ts'

export const widgets: Strategy = {
  group: 'example.com',
  resource: 'widgets',
  kind: 'Widget',
  namespaced: true,
  status: true,
  traits: customTraits,
}

export const builtin = (resource: string, kind: string, status = false): Strategy => ({
  group: '',
  resource,
  kind,
  namespaced: resource !== 'namespaces',
  status,
  traits: traitsOf(resource),
})

export const widget = (metadata: Metadata = {}, rest: object = {}): KubeObject => ({
  apiVersion: 'example.com/v1',
  kind: 'Widget',
  metadata: { name: 'a', ...metadata },
  ...rest,
})

export const texts = (errors: ReturnType<typeof newMetadataErrors>): readonly string[] =>
  errors.map(error => `${error.field}: ${fieldErrorBody(error)}`)
