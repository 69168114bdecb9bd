/** One step of a JSONPath. */
export type JsonPathNode =
  | { readonly type: 'field'; readonly name: string }
  | { readonly type: 'wildcard' }
  | { readonly type: 'descent' }
  | { readonly type: 'slice'; readonly from?: number; readonly to?: number; readonly step?: number }
  | { readonly type: 'index'; readonly index: number }
  | { readonly type: 'union'; readonly parts: readonly JsonPathNodes[] }
  | {
      readonly type: 'filter'
      readonly left: JsonPathNodes
      readonly operator: FilterOperator
      readonly right: JsonPathNodes
    }
  | { readonly type: 'literal'; readonly value: string | number | boolean }

export type JsonPathNodes = readonly JsonPathNode[]

export type FilterOperator = '==' | '!=' | '<' | '<=' | '>' | '>=' | 'exists'
