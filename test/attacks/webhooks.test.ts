import assert from 'node:assert/strict'
import { eventually } from '../support/oriel.ts'
import { type AnyReview, serveWebhooks, type Webhooks } from '../support/servers/webhooks.ts'
import { repeatDuring } from '../support/time/during.ts'
import { create, programs, type Resident, type Scene, statusOf } from './programs.ts'

const admission = 'admissionregistration.k8s.io/v1'
const workspace = `/clusters/root:attacker/apis/${admission}`

const times = <T>(count: number, make: (i: number) => T): T[] =>
  Array.from({ length: count }, (_, i) => make(i))

const configuration = (
  kind: 'Validating' | 'Mutating',
  count: number,
  { url, caBundle }: Webhooks,
): object => ({
  apiVersion: admission,
  kind: `${kind}WebhookConfiguration`,
  metadata: { name: kind.toLowerCase() },
  webhooks: times(count, i => ({
    name: `w${i}.example.com`,
    clientConfig: { url: `${url}/${kind}`, caBundle },
    rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }],
    matchConditions: [{ name: 'mine', expression: `object.metadata.name == '${kind.toLowerCase()}'` }],
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
  })),
})

const patch = Buffer.from('[{"op":"add","path":"/data/more","value":"x"}]').toString('base64')

for (const program of ['oriel start', 'oriel front-proxy'])
  describe(`${program}, attacked by many webhooks for one write`, function () {
    this.timeout(120_000)
    let scene: Scene
    let attacker: Resident
    let webhooks: Webhooks
    /** Calls that wait for an answer: now, and at most. */
    let [open, most, all] = [0, 0, 0]

    const counting = (said: object) => async () => {
      all++
      most = Math.max(most, ++open)
      await new Promise(resolve => setImmediate(resolve))
      open--
      return { allowed: true, ...said }
    }

    before(async () => {
      scene = await (programs[program] as () => Promise<Scene>)()
      attacker = scene.attacker
      webhooks = await serveWebhooks<AnyReview>({
        '/Validating': counting({}),
        '/Mutating': counting({ patchType: 'JSONPatch', patch }),
      })
      for (const resident of [attacker, scene.victim])
        await eventually(
          () => create(resident, 'first', 1),
          status => status === 201,
        )
    })
    beforeEach(() => {
      ;[open, most, all] = [0, 0, 0]
    })
    after(async () => {
      webhooks.close()
      await scene.stop()
    })

    for (const [kind, count] of [
      ['Validating', 200],
      ['Mutating', 50],
    ] as const)
      it(`calls ${count} of ${kind}WebhookConfigurations between other requests`, async () => {
        const path = `${workspace}/${kind.toLowerCase()}webhookconfigurations`
        assert.equal(await statusOf(attacker, path, configuration(kind, count, webhooks)), 201)
        const large = attacker.object(kind.toLowerCase(), 900_000)
        let answered = 0
        const written = eventually(
          () => statusOf(attacker, `${attacker.creates}?dryRun=All`, large),
          () => all > 0,
        )
        await repeatDuring(written, async () => {
          assert.equal(await create(scene.victim, `${kind.toLowerCase()}-${++answered}`, 1), 201)
          assert.equal(await statusOf(scene.victim, scene.victim.path), 200)
        })
        assert.equal(await written, 201)
        assert.equal(all, count)
        assert.ok(most <= 16, `${most} calls at a time`)
        assert.ok(answered > 1, `${answered} writes of another user`)
      })
  })
