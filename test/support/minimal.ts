import type { KubeObject } from '../../framework/index.ts'

interface Schema {
  readonly type?: string
  readonly enum?: readonly unknown[]
  readonly default?: unknown
  readonly required?: readonly string[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly items?: Schema
  readonly minItems?: number
  readonly minimum?: number
  readonly minLength?: number
  readonly format?: string
  readonly pattern?: string
  readonly 'x-kubernetes-int-or-string'?: boolean
}

interface CrdSpec {
  readonly group: string
  readonly scope: string
  readonly names: { readonly kind: string }
  readonly versions: readonly {
    readonly name: string
    readonly schema: { readonly openAPIV3Schema: Schema }
  }[]
}

/** Fields that only rules and patterns require, by kind. */
const asked: Readonly<Record<string, object>> = {
  GatewayClass: { controllerName: 'example.com/controller' },
  TLSRoute: {
    hostnames: ['example.com'],
    parentRefs: [{ name: 'a' }],
    rules: [{ backendRefs: [{ name: 'a', port: 443 }] }],
  },
}

/** The smallest valid object of a CRD: its required fields with the smallest values. */
export function minimalObject(crd: KubeObject, version: string, name: string): KubeObject {
  const { group, scope, names, versions } = crd.spec as CrdSpec
  const schema = versions.find(each => each.name === version)?.schema.openAPIV3Schema ?? {}
  const spec = { ...(minimal(schema.properties?.spec ?? {}) as object), ...asked[names.kind] }
  return {
    apiVersion: `${group}/${version}`,
    kind: names.kind,
    metadata: { name, ...(scope === 'Namespaced' && { namespace: 'default' }) },
    ...(schema.properties?.spec && { spec }),
  }
}

function minimal(schema: Schema): unknown {
  if (schema.default !== undefined) return schema.default
  if (schema.enum !== undefined) return schema.enum[0]
  if (schema['x-kubernetes-int-or-string']) return 1
  switch (schema.type) {
    case 'object':
      return Object.fromEntries(
        (schema.required ?? []).map(field => [field, minimal(schema.properties?.[field] ?? {})]),
      )
    case 'array':
      return Array.from({ length: schema.minItems ?? 0 }, () => minimal(schema.items ?? {}))
    case 'integer':
    case 'number':
      return schema.minimum ?? 1
    case 'boolean':
      return false
    default:
      if (schema.format === 'byte') return 'YQ=='
      return 'a'.repeat(Math.max(1, schema.minLength ?? 1))
  }
}
