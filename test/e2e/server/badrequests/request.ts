import type { KubeObject } from '../../../../framework/index.ts'
import { post } from '../../../conformance/fixture.ts'
import type { Sent } from '../../../support/client.ts'

export const widgets = '/apis/example.com/v1/namespaces/default/widgets'
export const configMaps = '/api/v1/namespaces/default/configmaps'
export const yaml = { 'content-type': 'application/yaml' }
export const text = (body: string, headers = {}): Sent => post(body, headers)

export const configMap = (name: string, metadata: object = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, ...metadata },
})

/** A bad request, below the URL of a logical cluster that serves the fixture. */
export interface BadRequest {
  readonly path: string
  readonly sent?: Sent
  readonly code: number
  readonly reason?: string
  readonly message?: string | RegExp
  /** Why kcp responds differently. */
  readonly better?: string
}

/** By area and name, with the response that rules.md requires. */
export type BadRequests = Readonly<Record<string, Readonly<Record<string, BadRequest>>>>
