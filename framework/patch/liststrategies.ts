import type { MergeSchema } from '../meta/mergeschema.ts'

const known = new WeakMap<MergeSchema, MergeSchema>()

/**
 * The schema of a custom resource with patch strategies by list type: lists of type `map` merge by the first of their keys,
 * those of type `set` by value. Definitions cannot declare strategies themselves. Cached by schema.
 */
export function withListStrategies(schema: MergeSchema): MergeSchema {
  const found = known.get(schema)
  if (found !== undefined) return found
  const made = withStrategies(schema)
  known.set(schema, made)
  return made
}

function withStrategies(schema: MergeSchema): MergeSchema {
  const { properties, additionalProperties, items } = schema
  const entries = properties && Object.entries(properties).map(([name, of]) => [name, withStrategies(of)])
  return {
    ...schema,
    ...(entries && { properties: Object.fromEntries(entries) }),
    ...(typeof additionalProperties === 'object' && {
      additionalProperties: withStrategies(additionalProperties),
    }),
    ...(items && { items: withStrategies(items) }),
    ...strategyOf(schema),
  }
}

function strategyOf(schema: MergeSchema): MergeSchema {
  const type = schema['x-kubernetes-list-type']
  if (type !== 'map' && type !== 'set') return {}
  const [key] = schema['x-kubernetes-list-map-keys'] ?? []
  return {
    'x-kubernetes-patch-strategy': 'merge',
    ...(key !== undefined && { 'x-kubernetes-patch-merge-key': key }),
  }
}
