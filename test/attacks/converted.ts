import type { Webhooks } from '../support/servers/webhooks.ts'

const version = (name: string) => ({
  name,
  served: true,
  storage: name === 'v1',
  schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
})

/** A definition of `plural`, which ends in s, with the versions v1 and v2; the path `/convert` of the webhooks converts. */
export function convertedDefinition(group: string, plural: string, { url, caBundle }: Webhooks): object {
  const singular = plural.slice(0, -1)
  const kind = singular.charAt(0).toUpperCase() + singular.slice(1)
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: 'Cluster',
      versions: [version('v1'), version('v2')],
      names: { plural, singular, kind, listKind: `${kind}List` },
      conversion: {
        strategy: 'Webhook',
        webhook: { conversionReviewVersions: ['v1'], clientConfig: { url: `${url}/convert`, caBundle } },
      },
    },
  }
}
