/** The part of an OpenAPI v3 schema that patches and server-side apply read. */
export interface MergeSchema {
  readonly type?: string
  readonly format?: string
  readonly default?: unknown
  readonly nullable?: boolean
  readonly properties?: Readonly<Record<string, MergeSchema>>
  readonly additionalProperties?: MergeSchema | boolean
  readonly items?: MergeSchema
  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean
  readonly 'x-kubernetes-embedded-resource'?: boolean
  readonly 'x-kubernetes-int-or-string'?: boolean
  readonly 'x-kubernetes-list-type'?: string
  readonly 'x-kubernetes-list-map-keys'?: readonly string[]
  readonly 'x-kubernetes-map-type'?: string
  /** `merge`, `replace` or `retainKeys`, or two of them with a comma. */
  readonly 'x-kubernetes-patch-strategy'?: string
  readonly 'x-kubernetes-patch-merge-key'?: string
}

const unknown: MergeSchema = {}

/** The schema of one member: the declared one, else that of additional properties; empty if there is none. */
export function memberSchema({ properties, additionalProperties }: MergeSchema, key: string): MergeSchema {
  if (properties !== undefined && Object.hasOwn(properties, key)) return properties[key] ?? unknown
  return typeof additionalProperties === 'object' ? additionalProperties : unknown
}

export const itemSchema = ({ items }: MergeSchema): MergeSchema => items ?? unknown

/** The patch strategy of a list or object: `merge`, `replace`, or empty for the default of its type. */
export function strategyOf(schema: MergeSchema): string {
  const strategies = (schema['x-kubernetes-patch-strategy'] ?? '').split(',')
  return strategies.find(strategy => strategy !== 'retainKeys') ?? ''
}

export const mergeKeyOf = (schema: MergeSchema): string => schema['x-kubernetes-patch-merge-key'] ?? ''
