import assert from 'node:assert/strict'
import type { BoundExport } from '../../../authz/chain/maximalpolicy.ts'
import {
  action,
  clusterBinding,
  clusterRole,
  type Fixture,
  user,
  userNamed,
} from '../../../authz/testing/fixture.ts'
import { actAs } from './authorizer.ts'
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
  describe('for claims by identity', () => {
    const claiming = apiExport({
      permissionClaims: [claim('sheriffs', ['*'], { group: 'wild.west', identityHash: 'h' })],
    })
    const takes = [accepted('sheriffs', ['*'], { group: 'wild.west', identityHash: 'h' })]
    const world = (others: World['others']) =>
      viewOver({ object: claiming, bindings: { consumer: bindingTo(takes) }, ...(others && { others }) })
    const policed = apiExport({ maximalPermissionPolicy: { local: {} } })
    const list = 'list wild.west/sheriffs'

    it('refuses while there is no provider', async () => {
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

    it('uses the global names of service accounts of other clusters', async () => {
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

    it('as a user with all permissions there, and none in other clusters', async () => {
      const { fixture }: { fixture: Fixture } = viewOver({})
      const acting = actAs({ user: controller, cluster: 'consumer' } as never, user('view'))
      assert.ok(await fixture.allows(acting, action('delete core/secrets ns/a', 'consumer')))
      for (const cluster of ['third', '*', 'system:admin'])
        assert.ok(!(await fixture.allows(acting, action('get core/secrets ns/a', cluster))), cluster)
    })
  })
})
