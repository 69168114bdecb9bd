import assert from 'node:assert/strict'
import { issueClient } from '../../test/support/clientcertificates.ts'
import { protocols, testCertificates } from '../../test/support/wire.ts'
import { as, create, get, refused, serving, start, widgets } from '../testing/serving.ts'

describe('a server', () => {
  const scene = serving()

  it('checks authentication first, then authorization, then existence', async () => {
    await start(scene)
    await refused(scene, '/clusters/root/apis/nothing/v1/here', 401, 'Unauthorized', as('wrong'))
    await refused(
      scene,
      '/clusters/root/api/v1/namespaces/ns/secrets/s',
      403,
      'secrets "s" is forbidden: User "system:anonymous" cannot get resource "secrets" in API group "" in the namespace "ns": access denied',
      {},
    )
    await refused(
      scene,
      '/clusters/root/apis/a.b/v1/cows',
      403,
      'cows.a.b is forbidden: User "reader" cannot create resource "cows" in API group "a.b" at the cluster scope: access denied',
      as('reader', { method: 'POST' }),
    )
    await refused(
      scene,
      '/clusters/root/a<b',
      403,
      'forbidden: User "system:anonymous" cannot get path "/a&lt;b": access denied',
      {},
    )
    await refused(
      scene,
      '/clusters/root/apis/a.b/v1/cows',
      404,
      'the server could not find the requested resource',
      as('reader'),
    )
    await refused(scene, '/clusters/none/api', 404, /could not find/)
  })

  it('fails closed when the authorizer fails', async () => {
    await start(scene)
    await refused(
      scene,
      `/clusters/root${widgets}`,
      500,
      /^Internal error occurred: an unexpected error/,
      as('crash'),
    )
  })

  it('acts as the user in the headers, and not with the permissions of the proxy without them', async () => {
    await start(scene)
    const named = (headers: Record<string, string>) => as('admin', { headers })
    for (const protocol of protocols) {
      const { status } = await get(
        scene,
        '/clusters/root/api',
        named({ 'impersonate-user': 'crash' }),
        protocol,
      )
      assert.equal(status, 500, 'the authorizer fails for that user')
    }
    await refused(
      scene,
      '/clusters/root/api',
      400,
      /without impersonating a user name/,
      named({ 'impersonate-group': 'devs' }),
    )
    await refused(
      scene,
      '/metrics',
      403,
      'forbidden: impersonation is not allowed for the requestor',
      named({ 'impersonate-user': 'reader' }),
    )
  })

  it('accepts certificates of its authority and refuses others', async () => {
    await start(scene)
    const { authority } = testCertificates()
    const client = await issueClient(authority, { subject: 'CN=root, O=system:masters' })
    for (const protocol of protocols)
      assert.equal((await get(scene, '/clusters/root/api', { client }, protocol)).status, 200)
    const other = await issueClient(authority, { subject: 'CN=root, O=system:masters', hours: -1 })
    await refused(scene, '/clusters/root/api', 401, 'Unauthorized', { client: other })
  })

  it('resolves workspace paths and refuses unknown clusters', async () => {
    await start(scene)
    await create(scene, 'root:team', 'a')
    assert.equal((await get(scene, `/clusters/team${widgets}/a`)).status, 200)
    await refused(scene, '/clusters/root:gone/api', 404, 'workspaces.tenancy.kcp.io "root:gone" not found')
    await refused(
      scene,
      '/clusters/root:team:gone/api',
      404,
      'workspaces.tenancy.kcp.io "root:team:gone" not found',
      as('reader'),
    )
    const denied = 'forbidden: User "system:anonymous" cannot get path "/api": access denied'
    for (const path of ['root:team', 'root:gone', 'root:team:gone', 'gone:gone'])
      await refused(scene, `/clusters/${path}/api`, 403, denied, {})
    await refused(scene, '/clusters/Ro_ot/api', 400, 'invalid cluster: "Ro_ot" does not match the regex')
  })

  it('keeps URLs without a cluster for the privileged', async () => {
    await start(scene)
    assert.equal((await get(scene, '/apis')).json.groups[0].name, 'example.com')
    await refused(
      scene,
      '/apis',
      403,
      'forbidden: User "reader" cannot get path "/apis": access denied',
      as('reader'),
    )
    const services = '/services/apiexport/root/x/clusters/*/api/v1/pods'
    const path = `forbidden: User "reader" cannot get path "${services}": Path not resolved to a valid virtual workspace`
    await refused(scene, services, 403, path, as('reader'))
    await refused(scene, services, 404, /could not find/)
  })

  it('answers a denied discovery request of client-go with text, the only form whose message it shows', async () => {
    await start(scene)
    const accept = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json'
    const { status, headers, body } = await get(scene, '/apis', as('reader', { headers: { accept } }))
    assert.deepEqual([status, headers['content-type']], [403, 'text/plain; charset=utf-8'])
    assert.equal(body, 'forbidden: User "reader" cannot get path "/apis": access denied')
  })
})
