import assert from 'node:assert/strict'
import { eventually, type Kubectl } from '../../support/oriel.ts'
import { bound, clusterRole, type People } from '../../support/people.ts'
import { apply } from '../../support/tenants.ts'
import { access, at, namespace } from './scene.ts'

export const serviceAccounts = (people: People): void => {
  for (const kind of ['bound', 'legacy'] as const)
    describe(`TestServiceAccounts, with a ${kind} token`, () => {
      const own = `org1:workspace${kind === 'bound' ? 1 : 2}`
      const other = `org1:workspace${kind === 'bound' ? 2 : 1}`
      const ns = `robots-${kind}`
      let token = ''
      before(async () => {
        const inside = people.admin.at(at(own))
        await apply(inside, namespace(ns))
        await people.admin.at(at(other))(['create', 'namespace', ns])
        await inside(['create', 'serviceaccount', 'robot', '-n', ns])
        token = kind === 'bound' ? await boundToken(inside) : await legacyToken(inside)
        await inside(['create', 'role', 'all', '--verb=*', '--resource=configmaps', '-n', ns])
        const robot = `--serviceaccount=${ns}:robot`
        await inside(['create', 'rolebinding', 'all', '--role=all', robot, '-n', ns])
      })
      const boundToken = async (kubectl: Kubectl): Promise<string> => {
        await kubectl(['create', 'secret', 'generic', 'anchor', '-n', ns])
        const anchor = ['--bound-object-kind=Secret', '--bound-object-name=anchor']
        const audience = '--audience=https://kcp.default.svc'
        return (await kubectl(['create', 'token', 'robot', '-n', ns, audience, ...anchor])).trim()
      }
      const legacyToken = async (kubectl: Kubectl): Promise<string> => {
        const annotations = { 'kubernetes.io/service-account.name': 'robot' }
        const type = 'kubernetes.io/service-account-token'
        const metadata = { name: 'token', namespace: ns, annotations }
        await apply(kubectl, { apiVersion: 'v1', kind: 'Secret', type, metadata })
        const read = ['get', 'secret', 'token', '-n', ns, '-o', 'jsonpath={.data.token}']
        const data = await eventually(
          () => kubectl(read),
          text => text !== '',
        )
        return Buffer.from(data, 'base64').toString()
      }
      const robots = `/api/v1/namespaces/${ns}/configmaps`
      const status = async (path: string): Promise<number> => (await people.as({ token })(path)).status

      it('is authenticated in its workspace, also without its path', async () => {
        assert.equal(await status(at(own, robots)), 200)
        assert.equal(await status(robots), 200)
      })

      it('has no access to a namespace of the same name in another workspace, unless all users have', async () => {
        assert.equal(await status(at(other, robots)), 403)
        const read = { verbs: ['list'], apiGroups: [''], resources: ['configmaps'] }
        const inOther = people.admin.at(at(other))
        await apply(inOther, clusterRole('read', read), bound('read', 'group:system:serviceaccounts'))
        await apply(inOther, bound(access, 'group:system:authenticated'))
        assert.equal(await status(at(other, robots)), 403)
        await apply(inOther, bound('read', 'group:system:authenticated'))
        assert.equal(await status(at(other, robots)), 200)
        assert.equal(await status(at('org2:workspace2', robots)), 403)
      })

      it('grants rules that it has, and with "escalate" more', async () => {
        const roles = `/apis/rbac.authorization.k8s.io/v1/namespaces/${ns}/roles`
        const role = (name: string, resource: string) => ({
          apiVersion: 'rbac.authorization.k8s.io/v1',
          kind: 'Role',
          metadata: { name, namespace: ns },
          rules: [{ verbs: ['get'], apiGroups: [''], resources: [resource] }],
        })
        const inside = people.admin.at(at(own))
        const robot = `--serviceaccount=${ns}:robot`
        const may = ['create', 'role', 'roles', '--verb=create,get', '--resource=roles']
        await inside([...may, '-n', ns])
        await inside(['create', 'rolebinding', 'roles', '--role=roles', robot, '-n', ns])
        const make = async (name: string, resource: string): Promise<number> =>
          (await people.post({ token }, at(own, roles), role(name, resource))).status
        assert.equal(await make('held', 'configmaps'), 201)
        assert.equal(await make('more', 'secrets'), 403)
        await inside(['create', 'role', 'up', '--verb=escalate', '--resource=roles', '-n', ns])
        await inside(['create', 'rolebinding', 'up', '--role=up', robot, '-n', ns])
        assert.equal(await make('more', 'secrets'), 201)
      })
    })
}
