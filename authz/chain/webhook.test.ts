import assert from 'node:assert/strict'
import { parseFieldSelector, parseLabelSelector } from '../../framework/selectors/parse.ts'
import { stopClocks } from '../../test/support/time/clocks.ts'
import { action, user } from '../testing/fixture.ts'
import { type WebhookOptions, webhookAuthorizer, webhookDefaults } from './webhook.ts'

const { signal } = new AbortController()
const alice = user('alice', 'devs')
const pods = action('list core/pods ns/')

/** A webhook with these responses in turn, and the reviews that it received. */
function webhook(answers: readonly (object | Error)[], more: Partial<WebhookOptions> = {}) {
  const asked: { spec: Record<string, unknown>; apiVersion: string }[] = []
  const left = [...answers]
  const send = async (review: object): Promise<unknown> => {
    asked.push(review as never)
    const answer = left.shift()
    if (answer instanceof Error || answer === undefined) throw answer ?? new Error('too many reviews')
    return { status: answer }
  }
  const options = { send, version: 'v1', allowedFor: 60_000, refusedFor: 60_000, ...more } as const
  const { authorize } = webhookAuthorizer(options)
  return { asked, ask: (who = alice, what = pods) => authorize(who, what, signal) }
}

describe('the authorization webhook', () => {
  it('receives the user, the action and the logical cluster', async () => {
    const { ask, asked } = webhook([{ allowed: true, reason: 'of course' }, { allowed: false }])
    assert.deepEqual(await ask(), { effect: 'allow', reason: 'of course', authorizer: 'webhook' })
    assert.deepEqual(asked[0]?.spec, {
      resourceAttributes: { namespace: 'ns', verb: 'list', version: 'v1', resource: 'pods' },
      user: 'alice',
      groups: ['devs', 'system:authenticated'],
      extra: {
        'authorization.kcp.io/cluster-name': ['ws'],
        'authorization.kubernetes.io/cluster-name': ['ws'],
      },
    })
    await ask(alice, action('get /metrics'))
    assert.deepEqual(asked[1]?.spec.nonResourceAttributes, { path: '/metrics', verb: 'get' })
  })

  it('receives the selectors', async () => {
    const { ask, asked } = webhook([{ allowed: true }, { allowed: false }, { allowed: false }])
    const fieldSelector = parseFieldSelector('spec.nodeName=a,status.phase!=Failed')
    const labelSelector = parseLabelSelector('app in (x,y),tier!=z,new,!old,size>3')
    assert.equal((await ask(alice, { ...pods, fieldSelector, labelSelector })).effect, 'allow')
    assert.deepEqual(asked[0]?.spec.resourceAttributes, {
      namespace: 'ns',
      verb: 'list',
      version: 'v1',
      resource: 'pods',
      fieldSelector: {
        requirements: [
          { key: 'spec.nodeName', operator: 'In', values: ['a'] },
          { key: 'status.phase', operator: 'NotIn', values: ['Failed'] },
        ],
      },
      labelSelector: {
        requirements: [
          { key: 'app', operator: 'In', values: ['x', 'y'] },
          { key: 'tier', operator: 'NotIn', values: ['z'] },
          { key: 'new', operator: 'Exists' },
          { key: 'old', operator: 'DoesNotExist' },
        ],
      },
    })
    assert.equal((await ask()).effect, 'no opinion', 'all objects are another request')
    await ask(alice, { ...pods, cluster: 'other', labelSelector: parseLabelSelector('size>3') })
    const { resourceAttributes: all } = asked[1]?.spec ?? {}
    assert.deepEqual(asked[2]?.spec.resourceAttributes, all, 'numbers are not compared there')
  })

  it('supports v1beta1', async () => {
    const { ask, asked } = webhook([{ allowed: true }], { version: 'v1beta1' })
    await ask()
    assert.equal(asked[0]?.apiVersion, 'authorization.k8s.io/v1beta1')
    assert.deepEqual(asked[0]?.spec.group, ['devs', 'system:authenticated'])
  })

  for (const [status, effect] of [
    [{ allowed: true }, 'allow'],
    [{ allowed: false, denied: true, reason: 'no' }, 'deny'],
    [{ allowed: false, reason: 'who knows' }, 'no opinion'],
  ] as const)
    it(`decides ${effect} for ${JSON.stringify(status)}`, async () => {
      assert.equal((await webhook([status]).ask()).effect, effect)
    })

  it('is cached for equal requests', async () => {
    const { ask, asked } = webhook([{ allowed: true }, { allowed: false }, { allowed: false, denied: true }])
    for (let i = 0; i < 3; i++) assert.equal((await ask()).effect, 'allow')
    assert.equal((await ask(user('bob'))).effect, 'no opinion')
    assert.equal((await ask(alice, { ...pods, cluster: 'other' })).effect, 'deny')
    assert.equal(asked.length, 3)
    const uncached = webhook([{ allowed: true }, { allowed: false }], { allowedFor: 0 })
    assert.equal((await uncached.ask()).effect, 'allow')
    assert.equal((await uncached.ask()).effect, 'no opinion')
  })

  it('is cached for five minutes by default, and for 30 seconds when it does not allow', async () => {
    const clocks = stopClocks()
    const [yes, no, none] = [{ allowed: true }, { allowed: false, denied: true }, { allowed: false }]
    try {
      const { ask, asked } = webhook([yes, no, none, yes, yes, no], webhookDefaults)
      const effects = async () => {
        const found: string[] = []
        for (const name of ['ann', 'bob', 'eve']) found.push((await ask(user(name))).effect)
        return [...found, asked.length]
      }
      assert.deepEqual(await effects(), ['allow', 'deny', 'no opinion', 3])
      clocks.pass(30_000)
      assert.deepEqual(await effects(), ['allow', 'deny', 'no opinion', 3])
      clocks.pass(1)
      assert.deepEqual(await effects(), ['allow', 'allow', 'allow', 5])
      clocks.pass(269_999)
      assert.deepEqual(await effects(), ['allow', 'allow', 'allow', 5])
      clocks.pass(1)
      assert.deepEqual(await effects(), ['deny', 'allow', 'allow', 6])
    } finally {
      clocks.restore()
    }
  })

  it('fails the request when it fails, and is called again', async () => {
    const { ask } = webhook([new Error('unreachable'), { allowed: true }])
    await assert.rejects(ask(), /unreachable/)
    assert.equal((await ask()).effect, 'allow')
  })

  for (const status of [{}, { allowed: 'yes' }, { allowed: true, denied: true }])
    it(`fails the request for ${JSON.stringify(status)}`, () => assert.rejects(webhook([status]).ask()))

  it('is called for each identity of the user', async () => {
    const warranted = { ...alice, extra: { 'authorization.kcp.io/warrant': ['{"user":"bob"}'] } }
    const { ask, asked } = webhook([{ allowed: false }, { allowed: true }])
    assert.equal((await ask(warranted)).effect, 'allow')
    assert.deepEqual(
      asked.map(({ spec }) => spec.user),
      ['alice', 'bob'],
    )
  })
})
