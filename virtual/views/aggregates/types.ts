import type { ApiResource } from '../../../framework/index.ts'
import type { ViewExpression } from '../../../openapi/index.ts'

/** The functions of an aggregate besides the count. */
export const functions = ['sum', 'min', 'max'] as const
export type AggregateFunction = (typeof functions)[number]

/** An expression of an aggregate, under a name. */
export interface NamedExpression {
  readonly name: string
  /** `spec.aggregate[0].sum[size]` */
  readonly field: string
  readonly expression: ViewExpression
}

/** One entry of `spec.aggregate`, compiled. */
export interface AggregatePlan {
  readonly name: string
  readonly of: AggregatedResource
  readonly by: readonly NamedExpression[]
  readonly values: Readonly<Record<AggregateFunction, readonly NamedExpression[]>>
}

/** A resource of a View whose objects are counted. */
export interface AggregatedResource {
  readonly source: ApiResource
  /** `spec.resources[0]` */
  readonly field: string
  readonly readsUser: boolean
}
