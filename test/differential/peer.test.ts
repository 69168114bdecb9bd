import assert from 'node:assert/strict'
import type { Client } from '../support/client.ts'
import { discard, type Oriel, startOriel } from '../support/oriel.ts'
import { corpus } from './corpus.ts'
import { type Difference, differences } from './differences.ts'
import { pastKnown } from './known/known.ts'
import { pastKnownOfViews } from './known/views.ts'
import { configOf, prepareSide } from './side.ts'
import type { Step } from './step.ts'
import { definitions } from './subjects.ts'
import { prepareView } from './view.ts'

const seed = Number(process.env.SEED ?? 1)
const requests = Number(process.env.REQUESTS ?? 2400)
/** Through the apiexport view of both servers, where kcp records an apply as an update. */
const isView = Boolean(process.env.VIEW)
const isShown = ({ about, path }: Step): boolean =>
  !about.endsWith('apply') && !about.startsWith('tried') && /^\/apis\/(?!rbac|coordination)/.test(path)
const steps = corpus(seed, requests).filter(step => !isView || isShown(step))

const told = ({ step, sent, ours, theirs }: Difference): string =>
  [
    step.about,
    step.path,
    `  sent   ${JSON.stringify(sent)}`,
    `  ours   ${JSON.stringify(ours)}`,
    `  theirs ${JSON.stringify(theirs)}`,
  ].join('\n')

/**
 * Sends the same generated requests to Oriel and to the server of PEER_KUBECONFIG, kcp or a kube-apiserver. Known
 * differences are in known.ts, with reasons.
 */
describe(`${steps.length} requests of seed ${seed}${isView ? ', through views' : ''}`, function () {
  this.timeout(600_000)
  let oriel: Oriel
  let sides: readonly Client[]
  before(async () => {
    const peer = process.env.PEER_KUBECONFIG
    if (!peer) throw new Error('set PEER_KUBECONFIG to the kubeconfig of a kcp or a kube-apiserver')
    oriel = await startOriel({ args: ['--store', 'memory:'] })
    const configs = [configOf(oriel.kubeconfig), configOf(peer)]
    sides = await Promise.all(
      configs.map(config => (isView ? prepareView : prepareSide)(config, definitions())),
    )
  })
  after(async () => {
    for (const client of sides ?? []) client.close()
    if (oriel) await discard(oriel)
  })

  it('have the same responses as from the peer', async () => {
    const found: string[] = []
    for await (const difference of differences(
      sides as [Client, Client],
      steps,
      isView ? pastKnownOfViews : pastKnown,
    ))
      found.push(told(difference))
    assert.equal(found.length, 0, `${found.length} differences\n\n${found.join('\n\n')}`)
  })
})
