/** One step of a JSONPath. */
export type Node =
  | { readonly type: 'field'; readonly name: string }
  | { readonly type: 'wildcard' }
  | { readonly type: 'descent' }
  | { readonly type: 'slice'; readonly from?: number; readonly to?: number; readonly step?: number }
  | { readonly type: 'index'; readonly index: number }
  | { readonly type: 'union'; readonly parts: readonly Nodes[] }
  | { readonly type: 'filter'; readonly left: Nodes; readonly operator: Operator; readonly right: Nodes }
  | { readonly type: 'literal'; readonly value: string | number | boolean }

export type Nodes = readonly Node[]

export type Operator = '==' | '!=' | '<' | '<=' | '>' | '>=' | 'exists'
