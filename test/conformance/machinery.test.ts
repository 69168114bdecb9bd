import { discard, type Oriel } from '../support/oriel.ts'
import { startServer } from '../support/servers/kcp.ts'
import { type Areas, areas } from './areas.ts'
import { refusalCases } from './cases/access.suite.ts'
import { definitionCases } from './cases/definitions.suite.ts'
import { signingCases } from './cases/signing.suite.ts'
import { finalizeCases } from './cases/status.suite.ts'
import type { Target } from './fixture.ts'
import { mountFlags, mountTarget, viewTarget, workspaceTarget } from './targets.ts'

/** Where impersonation is served: not at mounts, nor through kcp's view. */
const refusals = { refusals: refusalCases }

/** The cases of rules.md by number; each names its rules. */
describe('Kubernetes on the wire', function () {
  this.timeout(120_000)
  let oriel: Oriel
  before(async () => {
    oriel = await startServer(await mountFlags())
  })
  after(() => discard(oriel))

  const served = (name: string, prepare: (oriel: Oriel) => Promise<Target>, more: Areas = {}) =>
    describe(name, () => {
      let target: Target
      before(async () => {
        target = await prepare(oriel)
      })
      after(() => target?.close())
      for (const [area, cases] of Object.entries({ ...areas, ...more }))
        describe(area, () => cases(() => target))
    })

  served('in a workspace with a CRD', workspaceTarget, {
    ...refusals,
    'a definition’s life': definitionCases,
    'finalizers of namespaces': finalizeCases,
    'requests for certificates': signingCases,
  })
  served('through the apiexport view', viewTarget, process.env.KCP_BIN ? {} : refusals)
  if (!process.env.KCP_BIN) served('at a mount', mountTarget)
})
