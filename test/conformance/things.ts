import type { KubeObject } from '../../framework/index.ts'
import type { Webhooks } from '../support/servers/webhooks.ts'

// A kind of two versions, which a webhook converts: v1 has host and port, v2 has both as one address.

export interface Spec {
  readonly host?: string
  readonly port?: string
  readonly address?: string
}

/** The content of an object in the version. */
export function specIn(object: KubeObject, apiVersion: string): object {
  const { host = '', port = '', address = '' } = (object.spec ?? {}) as Spec
  const [h, p] = address.split(':', 2)
  return apiVersion.endsWith('/v1') ? { host: h, port: p } : { address: `${host}:${port}` }
}

/** `more`: whether it is stored, and what may be selected by. */
export const versionOf = (name: string, fields: object, more: object) => ({
  name,
  served: true,
  ...more,
  schema: {
    openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', properties: fields } } },
  },
})

/** `path`: of the webhook that converts. */
export const thingsOf = (
  group: string,
  versions: readonly object[],
  { url, caBundle }: Webhooks,
  path: string,
): KubeObject => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `things.${group}` },
  spec: {
    group,
    scope: 'Cluster',
    names: { plural: 'things', singular: 'thing', kind: 'Thing', listKind: 'ThingList' },
    versions,
    conversion: {
      strategy: 'Webhook',
      webhook: { conversionReviewVersions: ['v1'], clientConfig: { url: `${url}/${path}`, caBundle } },
    },
  },
})

export const thing = (apiVersion: string, name: string, spec: Spec): KubeObject => ({
  apiVersion,
  kind: 'Thing',
  metadata: { name },
  spec,
})
