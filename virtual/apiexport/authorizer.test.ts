import assert from 'node:assert/strict'
import type { BoundExport } from '../../authz/maximalpolicy.ts'
import {
  action,
  clusterBinding,
  clusterRole,
  createFixture,
  type Fixture,
  groupNamed,
  user,
  userNamed,
} from '../../authz/testing/fixture.ts'
import type { Decision } from '../../framework/authorizer.ts'
import type { Host, UserInfo } from '../../framework/index.ts'
import { itemOf } from '../../framework/item.ts'
import type { Exports } from '../exports/exports.ts'
import type { APIBinding, APIExport } from '../exports/types.ts'
import { actAs, exportAuthorizer } from './authorizer.ts'

const params = { provider: 'provider', name: 'widgets' }
const controller = user('controller')

const apiExport = (spec: APIExport['spec'], more: object = {}): APIExport =>
  ({
    apiVersion: 'apis.kcp.io/v1alpha2',
    kind: 'APIExport',
    metadata: { name: 'widgets' },
    spec,
    status: { identityHash: 'own' },
    ...more,
  }) as APIExport

const claim = (resource: string, verbs: readonly string[], more: object = {}) => ({
  group: '',
  resource,
  verbs,
  ...more,
})
const accepted = (resource: string, verbs: readonly string[], more: object = {}) => ({
  ...claim(resource, verbs),
  state: 'Accepted' as const,
  selector: { matchAll: true },
  ...more,
})
const bindingTo = (
  claims: readonly object[],
  bound = [{ group: 'example.com', resource: 'widgets' }],
): APIBinding =>
  ({
    apiVersion: 'apis.kcp.io/v1alpha2',
    kind: 'APIBinding',
    metadata: { name: 'widgets' },
    spec: { reference: { export: { path: 'provider', name: 'widgets' } }, permissionClaims: claims },
    status: { apiExportClusterName: 'provider', boundResources: bound },
  }) as unknown as APIBinding

interface World {
  readonly object?: APIExport | undefined
  /** By logical cluster. */
  readonly bindings?: Readonly<Record<string, APIBinding>>
  /** By identity, with its logical cluster. */
  readonly others?: Readonly<Record<string, readonly (readonly [string, APIExport])[]>>
  readonly bound?: Readonly<Record<string, readonly BoundExport[]>>
}

function viewOver({ object, bindings = {}, others = {}, bound = {} }: World) {
  const phases = { consumer: 'Ready', provider: 'Ready', third: 'Ready' }
  const fixture = createFixture({ phases, exports: bound })
  fixture.put('provider', clusterBinding('cluster-admin', userNamed('controller')))
  const exports = {
    find: () => object,
    bindingIn: (cluster: string) => bindings[cluster],
    byIdentity: (hash: string) => (others[hash] ?? []).map(([cluster, other]) => itemOf(other, cluster)),
  } as unknown as Exports
  const host = { backend: { authorizer: fixture.authorizer } } as unknown as Host
  const { authorize, explain } = exportAuthorizer(host, exports)
  const asked = (what: string, who: UserInfo, cluster: string) => {
    const { verb, resource, path = '' } = action(what)
    const info =
      resource === undefined
        ? { isResource: false, verb, path }
        : { isResource: true, verb, path, ...resource }
    const { signal } = new AbortController()
    return { workspace: 'apiexport', params, cluster, info, user: who, hops: 0, signal } as never
  }
  const ask = (what: string, who: UserInfo = controller, cluster = 'consumer'): Promise<Decision> =>
    authorize(asked(what, who, cluster))
  const why = (what: string, who: UserInfo = controller, cluster = 'consumer'): Promise<Decision> =>
    explain(asked(what, who, cluster))
  return { fixture, ask, why }
}

const lastOf = ({ trace }: Decision): string => trace?.at(-1)?.reason ?? ''
async function expect(asked: Promise<Decision>, effect: Decision['effect'], why?: string): Promise<void> {
  const decision = await asked
  assert.equal(decision.effect, effect, JSON.stringify(decision.trace))
  assert.equal(decision.reason, effect === 'allow' ? 'access granted' : 'access denied')
  if (why !== undefined) assert.equal(lastOf(decision), why)
}

describe('the authorizer of apiexport', () => {
  const claims = [claim('configmaps', ['*']), claim('secrets', ['get', 'list']), claim('events', ['*'])]
  const object = apiExport({ permissionClaims: claims })

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

  it('refuses what is no export, with no other word', async () => {
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
      it(`says ${effect} to ${what} with ${JSON.stringify(accepts)}`, async () => {
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

  it('hints at what is missing by the content alone, whatever there is', async () => {
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

  describe('for claims by identity', () => {
    const claiming = apiExport({
      permissionClaims: [claim('sheriffs', ['*'], { group: 'wild.west', identityHash: 'h' })],
    })
    const takes = [accepted('sheriffs', ['*'], { group: 'wild.west', identityHash: 'h' })]
    const world = (others: World['others']) =>
      viewOver({ object: claiming, bindings: { consumer: bindingTo(takes) }, ...(others && { others }) })
    const policed = apiExport({ maximalPermissionPolicy: { local: {} } })
    const list = 'list wild.west/sheriffs'

    it('refuses while nobody provides them', async () => {
      await expect(world({}).ask(list), 'deny', 'no API export has the claimed identity')
    })

    it('asks the policy of their export, for `*` too', async () => {
      const { ask, fixture } = world({ h: [['third', policed]] })
      await expect(ask(list), 'no opinion')
      await expect(ask(list, controller, '*'), 'no opinion')
      fixture.put(
        'third',
        clusterRole('sheriffs', { verbs: ['list'], apiGroups: ['wild.west'], resources: ['*'] }),
      )
      fixture.put('third', clusterBinding('sheriffs', userNamed('apis.kcp.io:binding:controller')))
      await expect(ask(list), 'allow')
      await expect(ask(list, controller, '*'), 'allow')
      await expect(ask('delete wild.west/sheriffs a'), 'no opinion')
    })

    it('asks the policies of all that share the identity', async () => {
      const { ask, fixture } = world({
        h: [
          ['third', policed],
          ['other', policed],
          ['open', apiExport({})],
        ],
      })
      fixture.put(
        'third',
        clusterRole('sheriffs', { verbs: ['*'], apiGroups: ['wild.west'], resources: ['*'] }),
      )
      fixture.put('third', clusterBinding('sheriffs', userNamed('apis.kcp.io:binding:controller')))
      await expect(ask(list), 'no opinion')
    })

    it('knows service accounts of other clusters by their global name', async () => {
      const { ask, fixture } = world({ h: [['third', policed]] })
      const extra = {
        'authentication.kcp.io/cluster-name': ['provider'],
        'authentication.kcp.io/scopes': ['cluster:provider'],
      }
      const robot = { ...user('system:serviceaccount:ns:robot'), extra }
      fixture.put('provider', clusterBinding('cluster-admin', userNamed(robot.name)))
      const named = 'apis.kcp.io:binding:system:kcp:serviceaccount:provider:ns:robot'
      fixture.put(
        'third',
        clusterRole('sheriffs', { verbs: ['*'], apiGroups: ['wild.west'], resources: ['*'] }),
      )
      fixture.put('third', clusterBinding('sheriffs', userNamed(named)))
      await expect(ask(list, robot), 'allow')
    })
  })

  describe('at last asks the logical cluster', () => {
    const from: BoundExport = { path: 'provider', name: 'widgets', cluster: 'provider', policy: 'local' }
    const bound = { 'consumer/example.com/widgets': [from] }

    it('whose policies hold for the provider itself', async () => {
      const { ask, fixture } = viewOver({ object, bindings: { consumer: bindingTo([]) }, bound })
      await expect(ask('list example.com/widgets'), 'no opinion')
      await expect(ask('list example.com/widgets', controller, '*'), 'allow')
      fixture.put(
        'provider',
        clusterRole('own', { verbs: ['*'], apiGroups: ['example.com'], resources: ['*'] }),
      )
      fixture.put('provider', clusterBinding('own', userNamed('apis.kcp.io:binding:controller')))
      await expect(ask('list example.com/widgets'), 'allow')
    })

    it('as somebody who may do all there, and nothing elsewhere', async () => {
      const { fixture }: { fixture: Fixture } = viewOver({})
      const acting = actAs({ user: controller, cluster: 'consumer' } as never, user('view'))
      assert.ok(await fixture.allows(acting, action('delete core/secrets ns/a', 'consumer')))
      for (const cluster of ['third', '*', 'system:admin'])
        assert.ok(!(await fixture.allows(acting, action('get core/secrets ns/a', cluster))), cluster)
    })
  })
})
