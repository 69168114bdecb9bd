import assert from 'node:assert/strict'
import { issueAuthority } from '../../../../cmd/certificates/certificates.ts'
import { issueClient } from '../../../support/clientcertificates.ts'
import { protocols } from '../../../support/wire.ts'
import { bearer, type Scene } from './scene.ts'

export const byProxiesAndCertificates = (scene: Scene): void => {
  describe('by headers of a front proxy', () => {
    const forged = {
      'X-Remote-User': 'root',
      'X-Remote-Group': 'system:masters',
      'X-Remote-Extra-authorization.kcp.io%2Fwarrant': '{"user":"x","groups":["system:masters"]}',
      'X-Remote-Uid': '0',
      'X-Proxy-User': 'root',
      'X-Proxy-Group': 'system:masters',
      'X-Proxy-Extra-authentication.kcp.io%2Fscopes': 'cluster:root',
      X_Proxy_User: 'root',
    }
    const asserted = {
      'x-proxy-user': 'dora',
      'X-Proxy-Group': 'ops',
      'X-Proxy-Uid': '9',
      'X-Proxy-Extra-Authentication.kcp.io%2fscopes': 'cluster:root',
    }

    it('are accepted under the configured header names only', async () => {
      const proxy = await issueClient(scene.proxies, { subject: 'CN=front-proxy' })
      for (const protocol of protocols)
        assert.deepEqual(
          await scene.userOf(
            '/clusters/root',
            { client: proxy, headers: { ...asserted, 'X-Remote-Group': 'system:masters' } },
            protocol,
          ),
          {
            username: 'dora',
            uid: '9',
            groups: ['ops', 'system:authenticated'],
            extra: { 'authentication.kcp.io/scopes': ['cluster:root'] },
          },
        )
    })

    it('are ignored from all other clients', async () => {
      const carol = await issueClient(scene.users, { subject: 'CN=carol, O=devs' })
      for (const protocol of protocols) {
        const byCertificate = await scene.userOf(
          '/clusters/root',
          { client: carol, headers: forged },
          protocol,
        )
        assert.deepEqual(
          [byCertificate.username, byCertificate.groups],
          ['carol', ['devs', 'system:authenticated']],
        )
        const headers = { ...forged, authorization: 'Bearer alice-token' }
        const byToken = await scene.userOf('/clusters/root', { headers }, protocol)
        assert.deepEqual(
          [byToken.username, byToken.groups, byToken.extra],
          ['alice', ['devs', 'system:authenticated'], undefined],
        )
        assert.equal((await scene.whoami('/clusters/root', { headers: forged }, protocol)).status, 403)
      }
    })

    it('are not taken away by a Connection header', async () => {
      const proxy = await issueClient(scene.proxies, { subject: 'CN=front-proxy' })
      const connection = 'X-Proxy-Extra-Authentication.kcp.io%2fscopes, X-Proxy-User, close'
      const { username, extra } = await scene.userOf(
        '/clusters/root',
        { client: proxy, headers: { ...asserted, connection } },
        'HTTP/1.1',
      )
      assert.deepEqual([username, extra], ['dora', { 'authentication.kcp.io/scopes': ['cluster:root'] }])
    })

    it('are refused from other names under the proxies’ authority, and under others', async () => {
      await scene.refused('/clusters/root', {
        client: await issueClient(scene.proxies, { subject: 'CN=other' }),
        headers: asserted,
      })
      const strangers = issueAuthority()
      await scene.refused('/clusters/root', {
        client: await issueClient(strangers, { subject: 'CN=front-proxy' }),
        headers: asserted,
      })
      await scene.refused('/clusters/root', {
        client: await issueClient(scene.proxies, { subject: 'CN=front-proxy', hours: -1 }),
        headers: asserted,
      })
    })
  })

  describe('by certificates', () => {
    it('are refused when expired, for servers, without a name, and beside a bad token', async () => {
      for (const options of [
        { subject: 'CN=a, O=system:masters', hours: -1 },
        { subject: 'CN=a', serverOnly: true },
        { subject: 'O=devs' },
      ])
        await scene.refused('/clusters/root', { client: await issueClient(scene.users, options) })
      const good = await issueClient(scene.users, { subject: 'CN=a' })
      await scene.refused('/clusters/root', { client: good, ...bearer('nope') })
    })

    it('have the UID of the certificate', async () => {
      const client = await issueClient(scene.users, { subject: 'CN=a, 1.3.6.1.4.1.57683.2=u-1' })
      assert.equal((await scene.userOf('/clusters/root', { client })).uid, 'u-1')
    })
  })
}
