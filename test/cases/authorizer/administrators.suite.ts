import assert from 'node:assert/strict'
import { kubectlFor } from '../../support/oriel.ts'
import { bound, clusterRole, masters, type People } from '../../support/people.ts'
import { apply } from '../../support/tenants.ts'
import {
  access,
  askRules,
  at,
  configMaps,
  hasRule,
  namespace,
  namespaces,
  rulesOf,
  secrets,
  statusOf,
} from './scene.ts'

export const administratorsAndOthers = (people: People): void => {
  describe('TestAuthorizer', () => {
    it('lets the admin of a workspace list config maps and make namespaces and config maps', async () => {
      assert.equal(await statusOf(people, 'user-1', at('org1:workspace1', configMaps)), 200)
      const made = await people.post('user-1', at('org1:workspace1', namespaces), namespace('test'))
      assert.equal(made.status, 201, made.body)
      const configMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'made' } }
      assert.equal((await people.post('user-1', at('org1:workspace1', configMaps), configMap)).status, 201)
    })

    it('lets others do there what a local role allows', async () => {
      const role = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'Role' }
      const inside = people.admin.at(at('org1:workspace1'))
      await apply(inside, bound(access, 'user-2'), {
        ...role,
        metadata: { name: 'secrets', namespace: 'default' },
        rules: [{ verbs: ['list'], apiGroups: [''], resources: ['secrets'] }],
      })
      await inside(['create', 'rolebinding', 'secrets', '--role=secrets', '--user=user-2'])
      assert.equal(await statusOf(people, 'user-2', at('org1:workspace1', secrets)), 200)
      const refused = await people.post('user-2', at('org1:workspace1', namespaces), namespace('no'))
      assert.equal(refused.status, 403)
    })

    it('serves health without credentials, and the version to users with access', async () => {
      for (const path of ['/healthz', '/readyz', '/livez'])
        assert.equal((await people.as('user-1')(at('org1', path))).body, 'ok')
      const version = await people.as('user-1')(at('org1', '/version'))
      assert.match(version.json<{ gitVersion: string }>().gitVersion, /^v\d/)
    })

    it('denies a workspace to its administrator who is not in its required groups', async () => {
      for (const path of [secrets, '/apis/rbac.authorization.k8s.io/v1'])
        assert.equal(await statusOf(people, 'user-1', at('org2:workspace1', path)), 403, path)
    })

    it('closes other workspaces, discovery included', async () => {
      for (const path of [secrets, '/apis/rbac.authorization.k8s.io/v1'])
        assert.equal(await statusOf(people, 'user-1', at('org1:workspace2', path)), 403, path)
      assert.equal(await statusOf(people, 'user-2', at('org1:workspace2', secrets)), 200)
    })

    it('opens all clusters at once to system:masters', async () => {
      assert.equal(await statusOf(people, masters, `/clusters/*${namespaces}`), 200)
      assert.equal(await statusOf(people, 'user-1', `/clusters/*${namespaces}`), 403)
    })

    it('finds roles of system:admin by bindings in a workspace', async () => {
      const system = kubectlFor(people.oriel, 'shard-base').at('/clusters/system:admin')
      const rule = { verbs: ['create'], apiGroups: [''], resources: ['namespaces'] }
      await apply(system, clusterRole('namespace-maker', rule))
      const make = (name: string) => people.post('user-3', at('org1:workspace2', namespaces), namespace(name))
      assert.equal((await make('before')).status, 403)
      await apply(
        people.admin.at(at('org1:workspace2')),
        bound(access, 'user-3'),
        bound('namespace-maker', 'user-3'),
      )
      assert.equal((await make('after')).status, 201)
    })

    it('answers deep reviews by RBAC alone, to system:masters', async () => {
      const resourceAttributes = { verb: 'list', version: 'v1', resource: 'configmaps', namespace: 'default' }
      const review = (path: string, who: string, headers = {}) =>
        people.as(who)(`${path}/apis/authorization.k8s.io/v1/subjectaccessreviews`, {
          method: 'POST',
          body: JSON.stringify({
            apiVersion: 'authorization.k8s.io/v1',
            kind: 'SubjectAccessReview',
            spec: { user: 'user-1', groups: ['system:authenticated'], resourceAttributes },
          }),
          headers: { 'content-type': 'application/json', ...headers },
        })
      const closed = await review(at('org2:workspace1'), masters)
      assert.deepEqual(closed.json().status, { allowed: false, denied: true, reason: 'access denied' })
      assert.equal((await review(at('org1:workspace1'), masters)).json().status?.allowed, true)
      const deep = { 'x-kcp-internal-deep-subjectaccessreview': 'true' }
      assert.equal((await review(at('org2:workspace1'), masters, deep)).json().status?.allowed, true)
    })

    it('lists the rules of a user with access, including roles of system:admin', async () => {
      const rules = () => rulesOf(people, at('org1:workspace2'), { user: 'user-4' })
      assert.equal((await askRules(people, at('org1:workspace2'), { user: 'user-4' })).status, 403)
      await apply(people.admin.at(at('org1:workspace2')), bound(access, 'user-4'))
      const own = await rules()
      assert.deepEqual([own.resourceRules.length, own.nonResourceRules.length, own.incomplete], [2, 3, false])
      await apply(people.admin.at(at('org1:workspace2')), bound('namespace-maker', 'user-4'))
      const rule = { apiGroups: [''], resources: ['namespaces'], verbs: ['create'] }
      assert.ok(hasRule(await rules(), rule))
    })
  })
}
