import assert from 'node:assert/strict'
import { eventually } from '../../../support/oriel.ts'
import { apply } from '../../../support/tenants.ts'
import { type Asked, bearer, type Scene, wacFor } from './scene.ts'

export const byIssuers = (scene: Scene): void => {
  describe('by tokens of an issuer of the server', () => {
    it('are users as its configuration maps them, everywhere', async () => {
      const token = await scene.company.token({ sub: 'bob', roles: 'dev,ops', team: 'blue', jti: 'j' })
      for (const path of ['/clusters/root', '/clusters/root:plain'])
        assert.deepEqual(await scene.userOf(path, bearer(token)), {
          username: 'oidc:bob',
          groups: ['dev', 'ops', 'system:authenticated'],
          extra: {
            'authentication.kubernetes.io/credential-id': ['JTI=j'],
            'example.org/team': ['blue'],
          },
        })
    })

    it('are no system users', async () => {
      const { groups } = await scene.userOf(
        '/clusters/root',
        bearer(await scene.company.token({ sub: 'eve', roles: 'system:masters,dev' })),
      )
      assert.deepEqual(groups, ['dev', 'system:authenticated'])
    })

    it('are refused when its rules do not hold, and when the token is not good', async () => {
      const now = Math.floor(Date.now() / 1000)
      for (const claims of [
        { banned: true },
        { sub: 'nobody' },
        { exp: now - 10 },
        { nbf: now + 600 },
        { aud: 'x' },
        { roles: 7 },
      ])
        await scene.refused(
          '/clusters/root',
          bearer(await scene.company.token({ sub: 'bob', roles: '', ...claims })),
        )
      const [head, body] = (await scene.company.token({ sub: 'bob', roles: '' })).split('.')
      const none = Buffer.from('{"alg":"none"}').toString('base64url')
      for (const forged of [
        `${none}.${body}.`,
        `${head}.${body}.`,
        `${head}.${body}.AAAA`,
        `${none}.e30.`,
        'a.b.c',
      ])
        await scene.refused('/clusters/root', bearer(forged))
    })

    it('are authenticated by its new key', async () => {
      await scene.userOf('/clusters/root', bearer(await scene.company.token({ sub: 'bob', roles: '' })))
      await scene.company.rotate('published')
      const token = await scene.company.token({ sub: 'bob', roles: '' })
      // Keys are fetched again at the earliest after ten seconds.
      await eventually(
        () => scene.whoami('/clusters/root', bearer(token)),
        ({ status }) => status === 201,
      )
    })
  })

  describe('by tokens of an issuer that a workspace’s type trusts', () => {
    const claims = { sub: 'carol', aud: 'team', groups: ['devs', 'system:kcp:admin', 'system:masters'] }

    it('are users in that workspace, and confined to it', async () => {
      const token = await scene.team.token({ ...claims, jti: 'j' })
      const user = await scene.userOf('/clusters/root:team', bearer(token))
      assert.equal(user.username, 'carol')
      assert.deepEqual(user.groups, ['devs', 'system:authenticated'])
      assert.deepEqual(user.extra, {
        'authentication.kcp.io/cluster-name': [scene.cluster],
        'authentication.kcp.io/scopes': [`cluster:${scene.cluster}`],
        'authentication.kubernetes.io/credential-id': ['JTI=j'],
        'other.example.com/test': ['b'],
      })
      assert.equal((await scene.userOf(`/clusters/${scene.cluster}`, bearer(token))).username, 'carol')
    })

    it('are unauthenticated in other workspaces', async () => {
      const token = await scene.team.token(claims)
      for (const path of [
        '/clusters/root',
        '/clusters/root:plain',
        '',
        '/clusters/*',
        '/clusters/system:admin',
      ])
        await scene.refused(path, bearer(token))
    })

    it('cannot have names of the system', async () => {
      for (const sub of ['system:admin', 'system:serviceaccount:default:default'])
        await scene.refused('/clusters/root:team', bearer(await scene.team.token({ ...claims, sub })))
    })

    it('are reviewed in that workspace', async () => {
      const token = await scene.team.token(claims)
      const ask = async (path: string) => {
        const object = {
          apiVersion: 'authentication.k8s.io/v1',
          kind: 'TokenReview',
          metadata: {},
          spec: { token },
        }
        const made = await scene.root.at(path)(['create', '-f', '-', '-o', 'json'], JSON.stringify(object))
        return JSON.parse(made).status
      }
      const { authenticated, audiences, user } = await ask('/clusters/root:team')
      assert.deepEqual(
        [authenticated, audiences, user.username],
        [true, ['https://kcp.default.svc'], 'carol'],
      )
      assert.deepEqual(user.extra['authentication.kcp.io/scopes'], [`cluster:${scene.cluster}`])
      assert.equal((await ask('/clusters/root:plain')).authenticated, undefined)
    })

    it('are 401 without credentials, not 500', async () => {
      const { status } = await scene.whoami('/clusters/root:team', {})
      assert.equal(status, 403)
      await scene.refused('/clusters/root:team', bearer('nothing'))
    })

    it('are authenticated by the current configuration', async () => {
      await apply(scene.root, wacFor(scene.team, 'other'))
      await scene.refused('/clusters/root:team', bearer(await scene.team.token(claims)))
      const again = await scene.team.token({ ...claims, aud: 'other' })
      assert.equal((await scene.userOf('/clusters/root:team', bearer(again))).username, 'carol')
      await scene.root(['delete', 'workspaceauthenticationconfiguration', 'team-idp'])
      await scene.refused('/clusters/root:team', bearer(again))
    })
  })

  describe('by a token webhook', () => {
    it('are the users that it returns, with one request', async () => {
      const hank = await scene.userOf('/clusters/root', bearer('hank-token'))
      const groups = ['hooked', 'system:authenticated']
      assert.deepEqual(hank, { username: 'hank', uid: '7', groups, extra: { 'example.com/floor': ['3'] } })
      await scene.userOf('/clusters/root:plain', bearer('hank-token'))
      assert.equal(scene.hook.got.filter(({ spec }) => (spec as Asked).token === 'hank-token').length, 1)
    })

    it('are unauthenticated if it rejects them', () => scene.refused('/clusters/root', bearer('other-token')))
  })
}
