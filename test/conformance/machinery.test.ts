import { startServer } from '../support/kcp.ts'
import { discard, type Oriel } from '../support/oriel.ts'
import { answerCases } from './answers.ts'
import { applyCases } from './apply.ts'
import { createCases } from './create.ts'
import { definitionCases, publishedCases } from './definitions.ts'
import type { Target } from './fixture.ts'
import { pathCases } from './paths.ts'
import { readingCases } from './reading.ts'
import { signingCases } from './signing.ts'
import { finalizeCases, statusCases } from './status.ts'
import { mountFlags, mountTarget, viewTarget, workspaceTarget } from './targets.ts'
import { updateCases } from './update.ts'

const areas: Readonly<Record<string, (target: () => Target) => void>> = {
  'paths and negotiation': pathCases,
  'create and metadata': createCases,
  'update, patch and delete': updateCases,
  'status of built-in kinds': statusCases,
  'server-side apply': applyCases,
  'answers and owners': answerCases,
  'list and watch': readingCases,
  'discovery and OpenAPI': publishedCases,
}

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
    'a definition’s life': definitionCases,
    'finalizers of namespaces': finalizeCases,
    'requests for certificates': signingCases,
  })
  served('through the apiexport view', viewTarget)
  if (!process.env.KCP_BIN) served('at a mount', mountTarget)
})
