import { startServer } from '../support/kcp.ts'
import { discard, type Oriel } from '../support/oriel.ts'
import { refusalCases } from './access.ts'
import { answerCases } from './answers.ts'
import { applyCases } from './apply.ts'
import { builtinCases } from './builtin.ts'
import { createCases } from './create.ts'
import { definitionCases, publishedCases } from './definitions.ts'
import type { Target } from './fixture.ts'
import { headerCases } from './headers.ts'
import { listCases } from './lists.ts'
import { metadataCases } from './metadata.ts'
import { pathCases } from './paths.ts'
import { readingCases } from './reading.ts'
import { signingCases } from './signing.ts'
import { finalizeCases, statusCases } from './status.ts'
import { strictnessCases } from './strictness.ts'
import { mountFlags, mountTarget, viewTarget, workspaceTarget } from './targets.ts'
import { updateCases } from './update.ts'
import { watchCases } from './watches.ts'
import { writeCases } from './writes.ts'

const areas: Readonly<Record<string, (target: () => Target) => void>> = {
  'paths and negotiation': pathCases,
  'headers of answers': headerCases,
  metadata: metadataCases,
  'create and metadata': createCases,
  strictness: strictnessCases,
  'update, patch and delete': updateCases,
  'status of built-in kinds': statusCases,
  writes: writeCases,
  'server-side apply': applyCases,
  'answers and owners': answerCases,
  'built-in kinds': builtinCases,
  'list and watch': readingCases,
  lists: listCases,
  watches: watchCases,
  'discovery and OpenAPI': publishedCases,
}

/** Where somebody may act as somebody else: not at mounts, nor through kcp's view. */
const refusals = { refusals: refusalCases }

/** The cases of chapter 40, section 12, by number; each names the rules that it is about. */
describe('Kubernetes on the wire', function () {
  this.timeout(120_000)
  let oriel: Oriel
  before(async () => {
    oriel = await startServer(await mountFlags())
  })
  after(() => discard(oriel))

  const served = (name: string, prepare: (oriel: Oriel) => Promise<Target>, more: typeof areas = {}) =>
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
