import assert from 'node:assert/strict'
import { eventually } from '../support/oriel.ts'
import { type AnyReview, serveWebhooks, type Webhooks } from '../support/servers/webhooks.ts'
import { convertedDefinition } from './converted.ts'
import { create, inOneProcess, type Resident, type Scene, statusOf } from './programs.ts'

const group = 'loops.example.com'
const workspace = '/clusters/root:attacker'
const loops = `${workspace}/apis/${group}`

const admission = 'admissionregistration.k8s.io/v1'
const configuration = ({ url, caBundle }: Webhooks): object => ({
  apiVersion: admission,
  kind: 'ValidatingWebhookConfiguration',
  metadata: { name: 'loop' },
  webhooks: [
    {
      name: 'loop.example.com',
      clientConfig: { url: `${url}/admit`, caBundle },
      rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }],
      sideEffects: 'None',
      admissionReviewVersions: ['v1'],
      timeoutSeconds: 2,
    },
  ],
})

describe('webhooks of a tenant that call the server again', function () {
  this.timeout(120_000)
  let scene: Scene
  let webhooks: Webhooks
  let attacker: Resident
  /** Calls of the webhooks that wait for the server. */
  let waiting = 0
  let names = 0

  const calling = async (call: () => Promise<number>): Promise<number> => {
    waiting++
    await call().catch(() => 0)
    waiting--
    return 500
  }
  const created = (path: string, object: object): Promise<unknown> =>
    eventually(
      () => statusOf(attacker, path, object),
      status => status === 201,
    )

  before(async () => {
    scene = await inOneProcess()
    attacker = scene.attacker
    webhooks = await serveWebhooks<AnyReview>({
      '/admit': () => calling(() => create(attacker, `inner-${++names}`, 1)),
      '/convert': () => calling(() => statusOf(attacker, `${loops}/v2/loops`)),
    })
    const crds = `${workspace}/apis/apiextensions.k8s.io/v1/customresourcedefinitions`
    await created(crds, convertedDefinition(group, 'loops', webhooks))
    await created(`${loops}/v1/loops`, { apiVersion: `${group}/v1`, kind: 'Loop', metadata: { name: 'a' } })
    await created(`${workspace}/apis/${admission}/validatingwebhookconfigurations`, configuration(webhooks))
  })
  after(async () => {
    webhooks.close()
    await scene.stop()
  })

  for (const [what, attack] of Object.entries({
    'in each write': () => create(attacker, `outer-${++names}`, 1),
    'in each conversion': () => statusOf(attacker, `${loops}/v2/loops`),
  }))
    it(`${what}, leave writes and reads to others`, async () => {
      for (let i = 0; i < 40; i++) void attack().catch(() => 0)
      await eventually(
        async () => waiting,
        count => count > 0,
      )
      for (let i = 0; i < 10; i++) {
        assert.equal(await create(scene.victim, `${what.replaceAll(' ', '-')}-${i}`, 1), 201)
        assert.equal(await statusOf(scene.victim, scene.victim.path), 200)
      }
      assert.ok(waiting > 0)
    })
})
