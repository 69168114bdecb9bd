import { retry } from '../framework/async/backoff.ts'
import type { Logger } from '../framework/contract/log.ts'
import type { PeerClient } from '../framework/contract/peer.ts'
import { hasCode } from '../framework/meta/statuschecks.ts'

interface APIExport {
  readonly status?: { readonly identityHash?: string }
}

/** The identity hash of an APIExport of `root`. Rejects while it has none. */
export async function identityOf(root: PeerClient, name: string, signal: AbortSignal): Promise<string> {
  const path = `/clusters/root/apis/apis.kcp.io/v1alpha1/apiexports/${name}`
  const identity = (await root.get<APIExport>(path, signal)).status?.identityHash
  if (!identity) throw new Error(`the export ${name} of root has no identity yet`)
  return identity
}

interface Asking {
  readonly log: Logger
  readonly signal: AbortSignal
  /** Called after each question. */
  readonly answers: (does: boolean) => void
}

/** Milliseconds. */
const pauses = { first: 500, longest: 5_000 }
const timeout = 10_000

/** The identity hash of workspaces on a shard: that of `root`, unless the shard has its own `root`. Asks until it answers. */
export async function identityOn(
  client: PeerClient,
  ofRoot: string,
  { log, signal, answers }: Asking,
): Promise<string> {
  const identity = () =>
    identityOf(client, 'tenancy.kcp.io', AbortSignal.any([signal, AbortSignal.timeout(timeout)])).catch(
      error => {
        if (hasCode(error, 403, 404)) return ofRoot
        throw error
      },
    )
  const failed = (error: unknown): void => {
    answers(false)
    log.warn({ error: String(error) }, 'shard unreachable, retrying')
  }
  const found = await retry(identity, { ...pauses, signal, failed })
  answers(true)
  return found
}
