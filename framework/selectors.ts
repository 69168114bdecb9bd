/** One term of a label selector. `in` and `notin` carry all values; `=` is `in` with one value, `!=` is `notin`. */
export interface LabelRequirement {
  readonly key: string
  readonly operator: 'in' | 'notin' | 'exists' | '!' | 'gt' | 'lt'
  readonly values: readonly string[]
}

/** AND of all requirements; empty selects everything. */
export interface LabelSelector {
  readonly requirements: readonly LabelRequirement[]
}

/** One term of a field selector; the empty value is legal. */
export interface FieldRequirement {
  readonly field: string
  readonly operator: '=' | '!='
  readonly value: string
}

export interface FieldSelector {
  readonly requirements: readonly FieldRequirement[]
}
