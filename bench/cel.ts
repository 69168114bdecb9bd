import type { KubeObject } from '../framework/index.ts'
import { compileSchema, type JSONSchemaProps } from '../openapi/index.ts'
import { foreignCrd } from '../test/support/crds.ts'
import type { Bench, Row } from './tools/result.ts'

// The cost that the schema and rules of Gateway API's HTTPRoute, the most expensive of common kinds, add to a write.

const runs = 5000

const rule = (path: string) => ({
  matches: [{ path: { type: 'PathPrefix', value: path }, headers: [{ name: 'x-version', value: 'v1' }] }],
  filters: [
    { type: 'RequestHeaderModifier', requestHeaderModifier: { add: [{ name: 'via', value: 'gateway' }] } },
  ],
  backendRefs: [{ name: 'backend', port: 8080, weight: 1 }],
})

const route: KubeObject = {
  apiVersion: 'gateway.networking.k8s.io/v1',
  kind: 'HTTPRoute',
  metadata: { name: 'route', namespace: 'default' },
  spec: {
    parentRefs: [{ name: 'gateway' }],
    hostnames: ['shop.example.com'],
    rules: ['/cart', '/items', '/'].map(rule),
  },
}

interface Definition {
  readonly spec: {
    readonly versions: readonly [{ readonly schema: { readonly openAPIV3Schema: JSONSchemaProps } }]
  }
}

/** One validation of an HTTPRoute of the Gateway API; nothing without FOREIGN_CRDS. */
export async function cel({ progress }: Bench): Promise<readonly Row[]> {
  const crd = foreignCrd<Definition>('httproutes.gateway.networking.k8s.io')
  if (crd === undefined) return []
  progress('validating')
  const schema = compileSchema(crd.spec.versions[0].schema.openAPIV3Schema)
  const { object } = schema.decode(route)
  const errors = schema.validate(object)
  if (errors.length > 0) throw new Error(`the route is wrong: ${errors[0]?.detail}`)
  const times = Array.from({ length: runs }, () => {
    const start = performance.now()
    schema.validate(object)
    return performance.now() - start
  }).sort((a, b) => a - b)
  const value = (times[runs >> 1] ?? 0) * 1000
  return [
    {
      id: 'cel.httproute',
      measure: 'validate an HTTPRoute, p50',
      value,
      unit: 'µs',
      target: { atMost: 1000 },
    },
  ]
}
