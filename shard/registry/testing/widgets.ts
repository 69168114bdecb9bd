import { fieldErrorBody } from '../../../framework/meta/errors.ts'
import type { KubeObject, Metadata } from '../../../framework/meta/object.ts'
import type { newMetadataErrors } from '../metadata.ts'
import { customStrategy, kindStrategyOf } from '../reststrategy.ts'
import type { ResourceStrategy } from '../strategy.ts'

export const widgets: ResourceStrategy = {
  group: 'example.com',
  resource: 'widgets',
  kind: 'Widget',
  namespaced: true,
  status: true,
  rest: customStrategy,
}

export const builtin = (resource: string, kind: string, status = false): ResourceStrategy => ({
  group: '',
  resource,
  kind,
  namespaced: resource !== 'namespaces',
  status,
  rest: kindStrategyOf(resource),
})

export const widget = (metadata: Metadata = {}, rest: object = {}): KubeObject => ({
  apiVersion: 'example.com/v1',
  kind: 'Widget',
  metadata: { name: 'a', ...metadata },
  ...rest,
})

export const texts = (errors: ReturnType<typeof newMetadataErrors>): readonly string[] =>
  errors.map(error => `${error.field}: ${fieldErrorBody(error)}`)
