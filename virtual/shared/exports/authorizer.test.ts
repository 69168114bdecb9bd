import assert from 'node:assert/strict'
import { clusterBinding, clusterRole, groupNamed, user, userNamed } from '../../../authz/testing/fixture.ts'
import type { Decision } from '../../../framework/contract/authorizer.ts'
import type { UserInfo } from '../../../framework/index.ts'
import {
  accepted,
  apiExport,
  bindingTo,
  claim,
  controller,
  expect,
  object,
  viewOver,
  type World,
} from './testing/authorizer.ts'

describe('the authorizer of apiexport', () => {
  it('refuses in a logical cluster that does not bind the export', async () => {
    const { ask } = viewOver({ object })
    await expect(
      ask('list example.com/widgets'),
      'deny',
      'could not find suitable APIBinding in target logical cluster',
    )
    await expect(ask('list example.com/widgets', controller, '*'), 'allow')
    await expect(ask('get /apis'), 'allow')
  })

  it('refuses a missing export without a reason', async () => {
    const { ask } = viewOver({})
    await expect(ask('list example.com/widgets'), 'deny')
  })

  describe('in one logical cluster', () => {
    const verbs: readonly (readonly [string, readonly object[], Decision['effect']])[] = [
      ['create example.com/widgets ns/', [], 'allow'],
      ['create example.com/gadgets ns/', [], 'deny'],
      ['create core/configmaps ns/', [], 'deny'],
      ['create core/configmaps ns/', [accepted('configmaps', ['*'])], 'allow'],
      ['create core/configmaps ns/', [accepted('configmaps', ['create'])], 'allow'],
      ['delete core/configmaps ns/a', [accepted('configmaps', ['create'])], 'deny'],
      ['create core/configmaps ns/', [accepted('configmaps', ['*'], { state: 'Rejected' })], 'deny'],
      ['create core/configmaps ns/', [accepted('configmaps', ['*'], { identityHash: 'x' })], 'deny'],
      ['list core/secrets ns/', [accepted('secrets', ['*'])], 'allow'],
      ['create core/secrets ns/', [accepted('secrets', ['*'])], 'deny'],
      ['create events.k8s.io/events ns/', [accepted('events', ['*'])], 'allow'],
      ['create core/events ns/', [accepted('events', ['*'], { group: 'events.k8s.io' })], 'allow'],
      ['list apis.kcp.io/apibindings', [], 'allow'],
      ['update apis.kcp.io/apibindings a', [], 'no opinion'],
      ['list core/pods ns/', [accepted('pods', ['*'])], 'deny'],
    ]
    for (const [what, accepts, effect] of verbs)
      it(`decides ${effect} for ${what} with ${JSON.stringify(accepts)}`, async () => {
        const { ask } = viewOver({ object, bindings: { consumer: bindingTo(accepts) } })
        await expect(ask(what), effect)
      })

    it('does not take objects of another identity for the export’s', async () => {
      const bound = (identityHash: string) => [
        { group: 'example.com', resource: 'widgets', schema: { identityHash } },
      ]
      for (const [identity, effect] of [
        ['own', 'allow'],
        ['foreign', 'deny'],
      ] as const) {
        const { ask } = viewOver({ object, bindings: { consumer: bindingTo([], bound(identity)) } })
        await expect(ask('list example.com/widgets'), effect)
      }
    })

    it('needs the claim that the view serves: the first of a resource', async () => {
      const two = apiExport({
        permissionClaims: [
          claim('widgets', ['*'], { group: 'other.io', identityHash: 'one' }),
          claim('widgets', ['*'], { group: 'other.io', identityHash: 'two' }),
        ],
      })
      const takes = (identityHash: string) => [
        accepted('widgets', ['*'], { group: 'other.io', identityHash }),
      ]
      const others = { one: [['third', apiExport({})]], two: [['third', apiExport({})]] } as const
      for (const [identity, effect] of [
        ['one', 'allow'],
        ['two', 'deny'],
      ] as const) {
        const { ask } = viewOver({ object: two, bindings: { consumer: bindingTo(takes(identity)) }, others })
        await expect(ask('list other.io/widgets'), effect)
      }
    })
  })

  it('reads of all logical clusters only what the export claims with this verb', async () => {
    const some = apiExport({
      permissionClaims: [claim('configmaps', ['create']), claim('secrets', ['list']), claim('events', ['*'])],
    })
    const { ask } = viewOver({ object: some })
    for (const [what, effect] of [
      ['list core/configmaps', 'deny'],
      ['list core/secrets', 'allow'],
      ['watch core/secrets', 'deny'],
      ['watch events.k8s.io/events', 'allow'],
      ['list example.com/widgets', 'allow'],
      ['list apis.kcp.io/apibindings', 'allow'],
    ] as const)
      await expect(ask(what, controller, '*'), effect)
  })

  it('asks for each verb on the export’s content, in the provider’s cluster', async () => {
    const { ask, fixture } = viewOver({ object, bindings: { consumer: bindingTo([]) } })
    const bob = user('bob')
    const content = {
      verbs: ['list'],
      apiGroups: ['apis.kcp.io'],
      resources: ['apiexports/content'],
      resourceNames: ['widgets'],
    }
    fixture.put('provider', clusterRole('content', content))
    fixture.put('provider', clusterBinding('content', userNamed('bob')))
    await expect(ask('list example.com/widgets', bob, '*'), 'no opinion')
    fixture.put('provider', clusterBinding('system:kcp:workspace:access', groupNamed('system:authenticated')))
    await expect(ask('list example.com/widgets', bob, '*'), 'allow')
    await expect(ask('list example.com/widgets', bob), 'allow')
    await expect(ask('get example.com/widgets ns/a', bob), 'no opinion')
    await expect(ask('get /apis', bob), 'no opinion')
  })

  it('explains every step, also behind a refusal, and in which cluster it lies', async () => {
    const { why } = viewOver({ object })
    const told = async (who: UserInfo, cluster?: string) => {
      const { effect, cluster: where, trace = [] } = await why('list example.com/widgets', who, cluster)
      const steps = trace.map(({ authorizer, effect, cluster }) => `${authorizer} ${effect} in ${cluster}`)
      return { effect, where, steps }
    }
    assert.deepEqual(await told(user('bob')), {
      effect: 'deny',
      where: 'provider',
      steps: [
        'virtual.apiexport.boundapi deny in consumer',
        'virtual.apiexport.content no opinion in provider',
        'virtual.apiexport.maxpermissionpolicy allow in undefined',
        'virtual.apiexport.cluster allow in consumer',
      ],
    })
    assert.equal((await told(controller, '*')).effect, 'allow')
    assert.deepEqual(
      (await viewOver({}).why('list example.com/widgets')).trace?.map(step => step.cluster),
      ['provider'],
    )
  })

  it('has a hint that depends on the content permission only', async () => {
    const hints = async (world: World) => {
      const { ask, fixture } = viewOver(world)
      fixture.put('provider', clusterBinding('system:kcp:workspace:access', userNamed('bob')))
      const of = async (who: UserInfo): Promise<string> =>
        (await ask('list example.com/gadgets', who)).hint ?? ''
      return [await of(user('eve')), await of(user('bob')), await of(controller)]
    }
    const told = await hints({ object, bindings: { consumer: bindingTo([]) } })
    assert.equal(told[0], '')
    assert.match(
      told[1] ?? '',
      /^you have access to the workspace of this API export, but not to its content/,
    )
    assert.match(told[2] ?? '', /^the content of this API export is open to you, but not for this request/)
    for (const other of [{ object }, {}]) assert.deepEqual(await hints(other), told)
  })
})
