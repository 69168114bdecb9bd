import type { KubeObject } from '../../framework/index.ts'
import type { Condition } from '../../kcp/index.ts'
import type { ExpressionParams } from '../../openapi/index.ts'

/** One entry of `spec.resources` of a View. */
export interface ViewResource {
  readonly group?: string
  readonly resource: string
  readonly version?: string
  readonly verbs: readonly string[]
  readonly where?: string
  readonly hide?: readonly string[]
  /** Expressions by the name of the annotation. */
  readonly annotate?: Readonly<Record<string, string>>
  readonly writable?: readonly string[]
}

/** One entry of `spec.columns`: with a JSONPath or an expression. */
export interface ViewColumn {
  readonly name: string
  readonly type?: 'boolean' | 'date' | 'integer' | 'number' | 'string'
  readonly jsonPath?: string
  readonly expression?: string
}

/** One entry of `spec.aggregate`. */
export interface ViewAggregate {
  readonly name: string
  readonly group?: string
  readonly resource: string
  /** Expressions by name. Objects with equal values are a group. */
  readonly by?: Readonly<Record<string, string>>
  readonly sum?: Readonly<Record<string, string>>
  readonly min?: Readonly<Record<string, string>>
  readonly max?: Readonly<Record<string, string>>
}

/** An expression that failed for some objects. */
export interface ExpressionFailure {
  readonly field: string
  readonly count: number
  readonly reason: string
}

/** `views.oriel.dev/v1alpha1`, `View`. */
export interface ViewObject extends KubeObject {
  readonly spec?: {
    readonly source?: { readonly apiExport?: string; readonly cluster?: '.'; readonly workspaces?: '.' }
    readonly params?: ExpressionParams
    readonly resources?: readonly ViewResource[]
    readonly columns?: readonly ViewColumn[]
    readonly aggregate?: readonly ViewAggregate[]
  }
  readonly status?: {
    readonly observedGeneration?: number
    readonly conditions?: readonly Condition[]
    readonly endpoints?: readonly { readonly url: string }[]
    readonly failures?: readonly ExpressionFailure[]
  }
}

/** The params of the view's path: the logical cluster of the View, and its name. */
export type ViewParams = { readonly owner: string; readonly view: string }
