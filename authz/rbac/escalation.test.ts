import assert from 'node:assert/strict'
import type { KubeObject } from '../../framework/meta/object.ts'
import { loopback, type UserInfo } from '../../framework/request/user.ts'
import {
  binding,
  clusterBinding,
  clusterRole,
  contextOf,
  createFixture,
  type Fixture,
  groupNamed,
  role,
  user,
  userNamed,
} from '../testing/fixture.ts'
import { escalationPrevention } from './escalation.ts'
import { rbacGroup } from './rbacsource.ts'

const alice = user('alice')
const owner = user('owner')
const rbacWriter = {
  verbs: ['*'],
  apiGroups: ['rbac.authorization.k8s.io'],
  resources: ['roles', 'rolebindings'],
}
const readPods = { verbs: ['get', 'list'], apiGroups: [''], resources: ['pods'] }
const plurals = {
  ClusterRole: 'clusterroles',
  Role: 'roles',
  ClusterRoleBinding: 'clusterrolebindings',
  RoleBinding: 'rolebindings',
}

describe('escalation prevention', () => {
  let fixture: Fixture
  beforeEach(() => {
    fixture = createFixture()
    fixture.put('ws', clusterBinding('system:kcp:workspace:access', groupNamed('system:authenticated')))
    fixture.put('ws', clusterBinding('cluster-admin', userNamed('owner')))
    fixture.put('ws', clusterRole('pod-reader', readPods))
    fixture.put('ws', clusterBinding('pod-reader', userNamed('alice')))
  })

  async function write(by: UserInfo, object: KubeObject, old?: KubeObject): Promise<void> {
    const { namespace = '', name = '' } = object.metadata
    const resource = plurals[object.kind as keyof typeof plurals]
    const key = { cluster: 'ws', namespace, name }
    const request = { group: rbacGroup, resource, key, object, ...(old === undefined ? {} : { old }) }
    await escalationPrevention(fixture.rbac, fixture.authorizer).permit(contextOf(by, {}), request)
  }

  it('allows roles and bindings with rules that the user holds', async () => {
    await write(
      alice,
      role('ns', 'r', { ...readPods, verbs: ['get'] }, { ...readPods, resourceNames: ['a'] }),
    )
    await write(alice, clusterBinding('pod-reader', userNamed('bob')))
    await write(owner, clusterRole('r', { verbs: ['*'], apiGroups: ['*'], resources: ['*'] }))
    await write(owner, clusterBinding('cluster-admin', userNamed('bob')))
    await write(loopback, clusterBinding('anything', userNamed('bob')))
  })

  it('refuses rules that the user does not hold, and lists them', async () => {
    const wanted = clusterRole(
      'r',
      { ...readPods, verbs: ['get', 'delete', 'patch'] },
      { verbs: ['get'], nonResourceURLs: ['/metrics'] },
    )
    await assert.rejects(write(alice, wanted), {
      code: 403,
      message:
        'clusterroles.rbac.authorization.k8s.io "r" is forbidden: user "alice" (groups=["system:authenticated"]) is ' +
        'attempting to grant RBAC permissions not currently held:\n' +
        '{APIGroups:[""], Resources:["pods"], Verbs:["delete" "patch"]}\n' +
        '{NonResourceURLs:["/metrics"], Verbs:["get"]}',
    })
  })

  it('refuses wildcards and rules without names to users with less', async () => {
    fixture.put('ws', clusterRole('named', { ...readPods, resources: ['secrets'], resourceNames: ['a'] }))
    fixture.put('ws', clusterBinding('named', userNamed('alice')))
    for (const rule of [
      { ...readPods, verbs: ['*'] },
      { ...readPods, apiGroups: ['*'] },
      { ...readPods, resources: ['*'] },
      { ...readPods, resources: ['pods/log'] },
      { ...readPods, resources: ['secrets'] },
      { ...readPods, resources: ['secrets'], resourceNames: ['a', 'b'] },
    ])
      await assert.rejects(write(alice, clusterRole('r', rule)), { code: 403 })
  })

  it('does not expand a rule with billions of combinations', async () => {
    const words = (what: string): string[] => Array.from({ length: 2_000 }, (_, i) => `${what}${i}`)
    const huge = { verbs: words('v'), apiGroups: words('g'), resources: words('r') }
    await assert.rejects(write(alice, clusterRole('r', huge)), { code: 403, message: /"g0" "g1"/ })
    fixture.put('ws', clusterRole('huge', huge))
    fixture.put('ws', clusterBinding('huge', userNamed('alice')))
    await write(alice, clusterRole('r', huge))
    const manyVerbs = { ...readPods, verbs: words('v') }
    const roles = Array.from({ length: 200 }, () => manyVerbs)
    await assert.rejects(write(alice, clusterRole('r', ...roles)), { code: 403 })
  })

  it('compares thousands of rules between the turns of other requests', async () => {
    const many = Array.from({ length: 20_000 }, (_, i) => ({ ...readPods, resources: [`r${i}`] }))
    fixture.put('ws', clusterRole('many', ...many))
    fixture.put('ws', clusterBinding('many', userNamed('alice')))
    let [turns, isOver] = [0, false]
    const count = (): void => {
      turns++
      if (!isOver) setImmediate(count)
    }
    setImmediate(count)
    await write(alice, role('ns', 'r', ...many.slice(-20))).finally(() => {
      isOver = true
    })
    assert.ok(turns > 2, `${turns} turns`)
  })

  it('refuses to bind a role with rules that the user does not hold', async () => {
    await assert.rejects(write(alice, clusterBinding('cluster-admin', userNamed('alice'))), { code: 403 })
    await assert.rejects(write(alice, binding('ns', 'edit', userNamed('alice'))), { code: 403 })
  })

  it('refuses to bind a role that does not exist yet, except with the verb bind', async () => {
    await assert.rejects(write(alice, clusterBinding('later', userNamed('alice'))), {
      code: 404,
      message: 'clusterrolebindings.rbac.authorization.k8s.io "later" not found',
    })
    await write(owner, clusterBinding('later', userNamed('alice')))
  })

  it('refuses a roleRef of another kind', async () => {
    const object = { ...clusterBinding('r', userNamed('bob')), roleRef: { kind: 'Other', name: 'r' } }
    await assert.rejects(write(owner, object), {
      code: 422,
      message:
        'ClusterRoleBinding.rbac.authorization.k8s.io "r-binding" is invalid: roleRef.kind: Unsupported value: "Other": supported values: "ClusterRole"',
    })
  })

  it('counts rules of a namespace only there', async () => {
    fixture.put('ws', binding('ns', 'view', userNamed('alice')))
    const configmaps = { verbs: ['list'], apiGroups: [''], resources: ['configmaps'] }
    await write(alice, role('ns', 'r', configmaps))
    await assert.rejects(write(alice, role('ns2', 'r', configmaps)), { code: 403 })
    await assert.rejects(write(alice, clusterRole('r', configmaps)), { code: 403 })
  })

  it('allows all with the verbs escalate and bind', async () => {
    const rules = { ...rbacWriter, resources: ['roles', 'clusterroles'] }
    fixture.put('ws', clusterRole('trusted', { ...rules, verbs: ['escalate', 'bind'] }))
    fixture.put('ws', clusterBinding('trusted', userNamed('alice')))
    await write(alice, clusterRole('r', { verbs: ['*'], apiGroups: ['*'], resources: ['*'] }))
    await write(alice, clusterBinding('cluster-admin', userNamed('alice')))
  })

  it('allows changes that grant nothing new', async () => {
    const before = clusterRole('r', { verbs: ['*'], apiGroups: ['*'], resources: ['*'] })
    const annotated = { ...before, metadata: { ...before.metadata, annotations: { a: 'b' } } }
    await write(alice, annotated, before)
    await assert.rejects(write(alice, { ...annotated, aggregationRule: {} }, before), { code: 403 })
    const bound = clusterBinding('cluster-admin', userNamed('owner'))
    await write(alice, { ...bound, metadata: { ...bound.metadata, labels: { a: 'b' } } }, bound)
  })

  it('refuses labels by which another role would have the rules of this one', async () => {
    const before = clusterRole('r', { verbs: ['*'], apiGroups: ['*'], resources: ['*'] })
    const labelled = { ...before, metadata: { ...before.metadata, labels: { 'aggregate-to-mine': 'true' } } }
    await assert.rejects(write(alice, labelled, before), { code: 403 })
    await write(owner, labelled, before)
    const own = clusterRole('r', readPods)
    await write(alice, { ...own, metadata: { ...own.metadata, labels: { a: 'b' } } }, own)
  })

  it('requires all permissions for aggregation', async () => {
    const aggregating = { ...clusterRole('r'), aggregationRule: { clusterRoleSelectors: [] } }
    await assert.rejects(write(alice, aggregating), { code: 403 })
    await write(owner, aggregating)
  })
})
