import type { ProbedPart } from './probe.ts'
import type { MergedStart } from './token.ts'

/** One page of a query. */
export interface MergedPage {
  /** Those that have more objects. */
  readonly parts: readonly MergedPart[]
  /** 0: no limit. */
  readonly limit: number
  readonly start: MergedStart
  /** The expression, as the client sent it. */
  readonly orderBy: string
}

/** The part of a page that one shard answers. */
export interface MergedPart extends ProbedPart {
  /** The version of its list. */
  readonly revision: string
  readonly isTable: boolean
  /** Converts an element, so that it has the columns of the page. */
  readonly aligned: (element: Buffer) => Buffer
  /** The objects of rows are in the responses of shards for their positions, and not in the page. */
  readonly hidesObjects: boolean
}

/** Elements of a page, and where the next one begins; undefined after the last page. */
export type PageElements = AsyncGenerator<readonly Buffer[], MergedStart | undefined>
