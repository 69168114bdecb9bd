import type { ServerAccess } from '../../framework/net/serveraccess.ts'
import { type Finding, ok, skipped, warning } from './finding.ts'
import { probe } from './probe.ts'

interface Gate {
  readonly name: string
  /** The controller that only runs with it: kcp says nowhere which gates are on. */
  readonly controller: string
  readonly without: string
}

/** Feature gates of kcp without which a view has nothing to show. */
const gates: readonly Gate[] = [
  {
    name: 'CacheAPIs',
    controller: 'kcp-cluster-cached-resources-controller',
    without: 'the view replication has nothing to show',
  },
  {
    name: 'LogicalClusterMigration',
    controller: 'kcp-logicalcluster-migration',
    without: 'the view migratingworkspaces has nothing to pass on',
  },
]

const queue = /^workqueue_depth\{[^}]*name="(kcp-[^"]+)"/gm

/** Which feature gates a kcp shard has been started with. Oriel's has none. */
export async function gateFindings(access: ServerAccess): Promise<readonly Finding[]> {
  const { origin } = new URL(access.server)
  const { status, text } = await probe(access, `${origin}/metrics`, { headers: { accept: 'text/plain' } })
  if (status !== 200) return [skipped('feature gates', `${origin}/metrics cannot be read: ${status}`)]
  const running = new Set([...text.matchAll(queue)].map(([, name]) => name))
  if (running.size === 0) return [skipped('feature gates', 'the shard has none')]
  return gates.map(({ name, controller, without }) =>
    running.has(controller)
      ? ok('feature gates', `${name} is on`)
      : warning('feature gates', `${name} is off: ${without}`, `start kcp with --feature-gates=${name}=true`),
  )
}
