import { discard } from '../support/oriel.ts'
import { type Standalone, startStandalone } from '../support/servers/standalone.ts'
import { areas } from './areas.ts'
import type { Target } from './fixture.ts'
import { viewTarget } from './targets.ts'

// The cases of rules.md with the view and its shard in two processes; with KCP_BIN, in front of kcp.
describe('Kubernetes on the wire, through a process of views', function () {
  this.timeout(120_000)
  let standalone: Standalone
  let target: Target
  before(async () => {
    standalone = await startStandalone()
    target = { ...(await viewTarget(standalone)), isApart: true }
  })
  after(async () => {
    await target?.close()
    await discard(standalone)
  })
  for (const [area, cases] of Object.entries(areas)) describe(area, () => cases(() => target))
})
