import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { issueAuthority } from '../../../../cmd/certificates/certificates.ts'
import { issueClient } from '../../../support/clientcertificates.ts'
import { eventually } from '../../../support/oriel.ts'
import { ask, protocols } from '../../../support/wire.ts'
import { bearer, configFor, type Scene, seen } from './scene.ts'

export const afterChanges = (scene: Scene): void => {
  describe('after their files have changed', () => {
    it('are users of the new certificate authority, and no longer of the old one', async () => {
      const [old, next] = [await issueClient(scene.users, { subject: 'CN=old' }), issueAuthority()]
      await scene.userOf('/clusters/root', { client: old })
      const watches = await Promise.all(protocols.map(scene.watching))
      await writeFile(scene.files.users, 'broken')
      await writeFile(scene.files.users, next.certificate)
      const fresh = await issueClient(next, { subject: 'CN=fresh' })
      await eventually(
        () => scene.whoami('/clusters/root', { client: fresh }),
        ({ status }) => status === 201,
      )
      await scene.refused('/clusters/root', { client: old })
      const proxy = await issueClient(scene.proxies, { subject: 'CN=front-proxy' })
      await scene.userOf('/clusters/root', { client: proxy, headers: { 'X-Proxy-User': 'dora' } })
      await scene.root(['create', 'configmap', 'after-the-change', '-n', 'default'])
      for (const stream of watches) await seen(stream, 'after-the-change')
    })

    it('are users of other issuers', async () => {
      const token = await scene.team.token({ sub: 'zoe', roles: 'dev', aud: 'oriel' })
      await scene.refused('/clusters/root', bearer(token))
      await writeFile(scene.files.config, JSON.stringify(configFor(scene.team)))
      const known = () => scene.whoami('/clusters/root', bearer(token))
      await eventually(known, ({ status }) => status === 201)
      await scene.refused('/clusters/root', bearer(await scene.company.token({ sub: 'bob', roles: '' })))
    })

    it('are unauthenticated without credentials, unless the configuration allows anonymous users', async () => {
      const nobody = (path: string) =>
        ask('HTTP/2', `${scene.oriel.url}/clusters/root${path}`, { ca: scene.ca })
      assert.equal((await nobody('/livez')).status, 200)
      assert.equal((await nobody('/api')).status, 403)
      const anonymous = { enabled: true, conditions: [{ path: '/livez' }] }
      await writeFile(scene.files.config, JSON.stringify({ ...configFor(scene.team), anonymous }))
      await eventually(
        () => nobody('/api'),
        ({ status }) => status === 401,
      )
      assert.equal((await nobody('/livez')).status, 200)
      assert.equal((await nobody('/readyz')).status, 401)
      await scene.userOf('/clusters/root', bearer('alice-token'))
    })
  })

  it('never makes an internal error of a bad credential', async () => {
    const lines = [
      '',
      'Bearer',
      'Bearer ',
      'bearer x',
      'Bearer\tx',
      'Bearer a b',
      'Basic YTpi',
      'Bearer ..',
      'Bearer {}.{}.{}',
      `Bearer ${'a'.repeat(12_000)}`,
      `Bearer ${'e30.'.repeat(2000)}`,
      `Bearer e30.${Buffer.from('{"iss":{"a":1},"kubernetes.io":7}').toString('base64url')}.x`,
      `Bearer e30.${Buffer.from('{"iss":"https://kcp.default.svc","kubernetes.io":{"clusterName":"../.."}}').toString('base64url')}.x`,
      `Bearer e30.${Buffer.from('{"iss":"kubernetes/serviceaccount"}').toString('base64url')}.x`,
      `Bearer ${Buffer.from('{"alg":"ES256","kid":{}}').toString('base64url')}.${Buffer.from('{"iss":"https://kcp.default.svc"}').toString('base64url')}.x`,
    ]
    for (const authorization of lines)
      for (const protocol of protocols)
        for (const path of ['', '/clusters/root', '/clusters/*', '/clusters/root:team']) {
          const { status } = await scene.whoami(path, { headers: { authorization } }, protocol)
          assert.ok(
            [401, 403].includes(status),
            `${protocol} ${path} ${authorization.slice(0, 40)}: ${status}`,
          )
        }
    const { status } = await scene.whoami('/clusters/root?access_token=alice-token', {})
    assert.equal(status, 403)
  })
}
