import assert from 'node:assert/strict'
import type { KubeObject } from '../../framework/index.ts'
import type { TestReply, TestUser } from '../../testing/index.ts'
import { configMap, everything, ownView, Scene } from './testing/scene.ts'
import { systemRoles } from './testing/tenant.ts'

const rbac = 'rbac.authorization.k8s.io'
const views = '/clusters/one/apis/views.oriel.dev/v1alpha1/views'
const bindings = `/apis/${rbac}/v1/clusterrolebindings`

/** Eve may write and use Views, and write bindings, and has no other permission. */
const roles = [
  {
    apiVersion: `${rbac}/v1`,
    kind: 'ClusterRole',
    metadata: { name: 'eve' },
    rules: [
      { apiGroups: ['views.oriel.dev'], resources: ['views', 'views/content'], verbs: everything },
      { apiGroups: [rbac], resources: ['clusterrolebindings'], verbs: everything },
      { nonResourceURLs: ['/'], verbs: ['access'] },
    ],
  },
  {
    apiVersion: `${rbac}/v1`,
    kind: 'ClusterRoleBinding',
    metadata: { name: 'eve' },
    subjects: [{ kind: 'User', apiGroup: rbac, name: 'eve' }],
    roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: 'eve' },
  },
] as readonly KubeObject[]

const bindingTo = (role: string) => ({
  apiVersion: `${rbac}/v1`,
  kind: 'ClusterRoleBinding',
  metadata: { name: `more-${role}` },
  subjects: [{ kind: 'User', apiGroup: rbac, name: 'eve' }],
  roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: role },
})

describe('a write through a View', () => {
  let scene: Scene
  let eve: TestUser
  beforeEach(async () => {
    scene = await Scene.start(...systemRoles, ...roles)
    eve = scene.oriel.as({ name: 'eve', groups: ['system:authenticated'] })
  })
  afterEach(() => scene.oriel.close())

  const create = (path: string, body: object): Promise<TestReply> =>
    eve.request(path, { method: 'POST', body })
  const through = (view: string, rest: string): string => `/services/views/one/${view}/clusters/one${rest}`

  it('grants no role that the user could not grant without the View', async () => {
    const own = ownView('granting', { group: rbac, resource: 'clusterrolebindings', verbs: everything })
    assert.equal((await create(views, own)).status, 201)
    await scene.status('granting', ({ status }) => (status?.conditions ?? []).length > 0)
    const refused = await create(through('granting', bindings), bindingTo('admin'))
    assert.equal(refused.status, 403, refused.text)
    assert.match(refused.text, /attempting to grant RBAC permissions not currently held/)
    const allowed = await create(through('granting', bindings), bindingTo('eve'))
    assert.equal(allowed.status, 201, allowed.text)
  })

  it('needs no permission for the objects themselves', async () => {
    await scene.view(ownView('maps', { resource: 'configmaps', verbs: everything }))
    const maps = through('maps', '/api/v1/namespaces/default/configmaps')
    const made = await create(maps, configMap('any', {}, { a: 'b' }))
    assert.equal(made.status, 201, made.text)
  })
})
