import type { ServerAccess } from '../../framework/net/serveraccess.ts'
import { type Finding, ok, skipped, warning } from './finding.ts'
import { probe } from './probe.ts'

interface Gate {
  readonly name: string
  /** A controller that runs only with the gate: kcp has no API for its feature gates. */
  readonly controller: string
  readonly without: string
}

/** Feature gates of kcp that views need. */
const gates: readonly Gate[] = [
  {
    name: 'CacheAPIs',
    controller: 'kcp-cluster-cached-resources-controller',
    without: 'the view replication has no objects',
  },
  {
    name: 'LogicalClusterMigration',
    controller: 'kcp-logicalcluster-migration',
    without: 'the view migratingworkspaces has no objects',
  },
]

const queue = /^workqueue_depth\{[^}]*name="(kcp-[^"]+)"/gm

/** Checks the feature gates of a kcp shard. A shard of Oriel has none. */
export async function gateFindings(access: ServerAccess): Promise<readonly Finding[]> {
  const { origin } = new URL(access.server)
  const { status, text } = await probe(access, `${origin}/metrics`, { headers: { accept: 'text/plain' } })
  if (status !== 200) return [skipped('feature gates', `${origin}/metrics cannot be read: ${status}`)]
  const running = new Set([...text.matchAll(queue)].map(([, name]) => name))
  if (running.size === 0) return [skipped('feature gates', 'the shard has no feature gates')]
  return gates.map(({ name, controller, without }) =>
    running.has(controller)
      ? ok('feature gates', `${name} is on`)
      : warning('feature gates', `${name} is off: ${without}`, `start kcp with --feature-gates=${name}=true`),
  )
}
