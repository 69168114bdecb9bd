import type { Authorizer } from '../framework/contract/authorizer.ts'
import type { OtherShards } from '../framework/contract/workspace.ts'
import { StatusError } from '../framework/meta/errors.ts'
import type { RemoteDirectory } from './directory.ts'

/**
 * The logical clusters that the shard does not have. `everywhere` asks their shards, through a front proxy; without it, and
 * while it does not answer, users have no access there.
 */
export function otherShards(
  directory: Pick<RemoteDirectory, 'has'>,
  everywhere: Authorizer | undefined,
): OtherShards {
  return {
    has: cluster => !directory.has(cluster),
    async mayAccess(user, cluster) {
      try {
        const entering = { verb: 'access', cluster, path: '/' }
        const decision = await everywhere?.authorize(user, entering, AbortSignal.timeout(longest))
        return decision?.effect === 'allow'
      } catch (error) {
        if (error instanceof StatusError) return false
        throw error
      }
    },
  }
}

/** Milliseconds. */
const longest = 5_000
