import type { TokenCipher } from '../../framework/contract/context.ts'
import type { ResourceStorage } from '../../framework/index.ts'
import type { QueryQuestion } from './question.ts'
import type { Unit } from './units.ts'

/** One list of a query. */
export interface QueryListing {
  readonly question: QueryQuestion
  readonly units: readonly Unit[]
  /** The resource in all logical clusters, for the current revision. */
  readonly anywhere: ResourceStorage
  readonly tokens: TokenCipher
  /** What continue tokens are valid for. */
  readonly about: string
}
