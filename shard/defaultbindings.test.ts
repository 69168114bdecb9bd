import assert from 'node:assert/strict'
import type { KubeObject } from '../framework/meta/object.ts'
import type { APIBinding, APIExport } from '../kcp/apis.ts'
import { conditionIs, findCondition } from '../kcp/conditions.ts'
import { resources } from '../kcp/resources.ts'
import { url } from './testing/kcpshard.ts'
import {
  ask,
  at,
  create,
  find,
  finished,
  isIn,
  life,
  ready,
  waitsFor,
  workspace,
  workspaceType,
} from './testing/life.ts'
import { until } from './testing/shard.ts'

describe('the life of a workspace', () => {
  const scene = life()

  describe('with default bindings', () => {
    const exported = (name: string, spec: object = {}): KubeObject => ({
      apiVersion: 'apis.kcp.io/v1alpha2',
      kind: 'APIExport',
      metadata: { name },
      spec,
    })
    const bindingIn = (cluster: string, prefix: string): APIBinding | undefined =>
      scene.shard.informers
        .for(resources.apiBindings)
        .list(cluster)
        .find(({ key }) => key.name.startsWith(prefix))?.object as APIBinding | undefined

    it('waits for a missing export, and names it', async () => {
      await workspaceType(scene, 'binding', { defaultAPIBindings: [{ path: 'root', export: 'later' }] })
      const asked = await ask(scene, workspace(scene, 'binding'))
      const waiting = () => findCondition(asked.home()?.status?.conditions, 'APIBindingsInitialized')
      const told = await until(waiting)
      assert.equal(told.reason, 'WaitingOnAPIBindings')
      assert.equal(told.message, 'APIBinding(s) not yet fully bound: for APIExport root|later')
      const stuck = await asked.when(waitsFor('WaitingForInitializers'))
      assert.equal(
        findCondition(stuck.status?.conditions, finished)?.message,
        `waiting since ${asked.home()?.metadata.creationTimestamp} for system:apibindings (${told.message}) at ` +
          `${url}/clusters/${stuck.spec?.cluster}`,
      )
      await create(scene, resources.apiExports, 'root', exported('later'))
      const done = await asked.when(isIn('Ready'))
      assert.equal(findCondition(done.status?.conditions, finished), undefined)
      assert.equal(waiting()?.status, 'True')
    })

    it('binds exports without conflicts, and names the binding that conflicts', async () => {
      await create(scene, resources.apiResourceSchemas, 'root', {
        apiVersion: 'apis.kcp.io/v1alpha1',
        kind: 'APIResourceSchema',
        metadata: { name: 'v1.gadgets.example.io' },
        spec: {
          group: 'example.io',
          names: { plural: 'gadgets', singular: 'gadget', kind: 'Gadget', listKind: 'GadgetList' },
          scope: 'Cluster',
          versions: [{ name: 'v1', served: true, storage: true, schema: { type: 'object' } }],
        },
      })
      const gadgets = [{ group: 'example.io', name: 'gadgets', schema: 'v1.gadgets.example.io' }]
      for (const name of ['left', 'right'])
        await create(scene, resources.apiExports, 'root', exported(name, { resources: gadgets }))
      await until(() =>
        ['left', 'right'].every(
          name => find<APIExport>(scene, resources.apiExports, 'root', name)?.status?.identityHash,
        )
          ? true
          : undefined,
      )
      await workspaceType(scene, 'torn', {
        defaultAPIBindings: ['left', 'right'].map(name => ({ path: 'root', export: name })),
      })
      const asked = await ask(scene, workspace(scene, 'torn'))
      const stuck = await asked.when(waitsFor('WaitingForInitializers'))
      const cluster = stuck.spec?.cluster ?? ''
      assert.equal(bindingIn(cluster, 'left-')?.status?.phase, 'Bound')
      const { metadata, status } = bindingIn(cluster, 'right-') ?? {}
      assert.equal(findCondition(status?.conditions, 'InitialBindingCompleted')?.reason, 'NamingConflicts')
      assert.match(
        findCondition(stuck.status?.conditions, finished)?.message ?? '',
        new RegExp(`: ${metadata?.name}\\)`),
      )
      await asked.remove()
      await asked.whenGone()
    })

    it('binds nothing for types that its type extends later: nobody was permitted to use them there', async () => {
      for (const name of ['first', 'second', 'foreign'])
        await create(scene, resources.apiExports, 'root', exported(name))
      const maintained = { defaultAPIBindingLifecycle: 'Maintain' }
      const binds = (...names: string[]) => ({
        defaultAPIBindings: names.map(name => ({ path: 'root', export: name })),
      })
      await workspaceType(scene, 'foreign', { ...binds('foreign'), ...maintained })
      await workspaceType(scene, 'growing', { ...binds('first'), ...maintained })
      const { cluster } = await ready(scene, 'growing')
      await scene.shard.client.update(scene.tenancy.workspaceTypes, at('root', 'growing'), type => ({
        ...type,
        spec: { ...binds('first', 'second'), ...maintained, extend: { with: [{ name: 'foreign' }] } },
      }))
      await scene.shard.client.update(resources.logicalClusters, at(cluster, 'cluster'), object => ({
        ...object,
        metadata: { ...object.metadata, labels: { touched: 'yes' } },
      }))
      await until(() => bindingIn(cluster, 'second-'))
      assert.equal(bindingIn(cluster, 'foreign-'), undefined)
    })

    it('restores changed bindings with the lifecycle Maintain', async () => {
      const claim = { group: '', resource: 'configmaps', verbs: ['get'] }
      await create(scene, resources.apiExports, 'root', exported('kept', { permissionClaims: [claim] }))
      const defaults = { defaultAPIBindings: [{ path: 'root', export: 'kept' }] }
      await workspaceType(scene, 'maintained', { ...defaults, defaultAPIBindingLifecycle: 'Maintain' })
      const { asked, cluster } = await ready(scene, 'maintained')
      const spec = bindingIn(cluster, 'kept-')?.spec
      assert.equal(spec?.permissionClaims?.[0]?.state, 'Accepted')
      const name = bindingIn(cluster, 'kept-')?.metadata.name ?? ''
      await scene.shard.client.update(resources.apiBindings, at(cluster, name), object => ({
        ...object,
        spec: {
          ...(object as APIBinding).spec,
          permissionClaims: [{ ...claim, selector: { matchAll: true }, state: 'Rejected' }],
        },
      }))
      const state = () => bindingIn(cluster, 'kept-')?.spec?.permissionClaims?.[0]?.state
      await until(() => (state() === 'Accepted' ? true : undefined))
      await scene.shard.client.delete(resources.apiBindings, at(cluster, name))
      const uid = bindingIn(cluster, 'kept-')?.metadata.uid
      await until(() => {
        const found = bindingIn(cluster, 'kept-')
        return found !== undefined && found.metadata.uid !== uid ? true : undefined
      })
      await until(() =>
        conditionIs(asked.home()?.status?.conditions, 'APIBindingsReconciled', 'True') ? true : undefined,
      )
    })
  })
})
