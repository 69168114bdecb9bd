import assert from 'node:assert/strict'
import { post } from '../../../conformance/fixture.ts'
import { clientOf } from '../../../support/client.ts'
import { userAt } from '../../../support/watcher.ts'
import { at, binding, done, exported, type Lair, refused, secrets, widgets } from './lair.ts'

export const becomesNobodyElse = (scene: Lair): void => {
  describe('cannot become another user', () => {
    const whoami = '/apis/authentication.k8s.io/v1/selfsubjectreviews'
    const review = post({ apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' })
    const forged = {
      'x-remote-user': 'kcp-admin',
      'x-remote-group': 'system:masters',
      'x-remote-uid': '0',
      'x-remote-extra-authorization.kcp.io%2fwarrant': JSON.stringify({
        user: 'a',
        groups: ['system:masters'],
      }),
    }

    it('by the headers of a front proxy', async () => {
      const reply = await scene.mallory(at(scene.lair) + whoami, { ...review, headers: forged })
      const { status } = done(reply, 201).json<{
        status: { userInfo: { username: string; groups: string[] } }
      }>()
      assert.deepEqual(
        [status.userInfo.username, status.userInfo.groups],
        ['mallory', ['system:authenticated']],
      )
      refused(await scene.mallory(`${at(scene.victim)}${secrets}`, { headers: forged }))
      for (const path of [at(scene.lair), at(scene.victim), ''])
        refused(await scene.nobody(path + secrets, { headers: forged }))
    })

    const impersonations: readonly Readonly<Record<string, string | readonly string[]>>[] = [
      { 'impersonate-user': 'kcp-admin' },
      { 'impersonate-user': 'mallory', 'impersonate-group': 'system:masters' },
      { 'impersonate-user': 'mallory', 'impersonate-group': ['system:kcp:admin', 'system:authenticated'] },
      { 'impersonate-user': 'system:kcp:external-logical-cluster-admin' },
      { 'impersonate-user': 'system:serviceaccount:default:default' },
      { 'impersonate-group': 'system:masters' },
      {
        'impersonate-user': 'mallory',
        'impersonate-extra-authorization.kcp.io%2fwarrant': JSON.stringify({
          user: 'a',
          groups: ['system:masters'],
        }),
      },
      {
        'impersonate-user': 'mallory',
        'impersonate-extra-authentication.kcp.io%2fscopes': 'cluster:',
        'impersonate-extra-authentication.kcp.io%2fcluster-name': 'root',
      },
    ]

    it('by impersonation in other workspaces', async () => {
      for (const headers of impersonations) {
        for (const url of [
          `${at(scene.victim)}${secrets}`,
          `/clusters/*/api/v1/secrets`,
          `${scene.view}/clusters/*${widgets}`,
        ]) {
          const reply = await scene.mallory(url, { headers })
          assert.ok([400, 403].includes(reply.status), `${url} ${JSON.stringify(headers)}: ${reply.status}`)
        }
        assert.ok(
          [400, 401, 403].includes((await scene.nobody(at(scene.lair) + secrets, { headers })).status),
        )
      }
    })

    it('by impersonation in its workspace for decisions of other workspaces', async () => {
      for (const headers of impersonations) {
        const sent = post(binding('other', scene.provider.path), headers as Record<string, string>)
        const reply = await scene.mallory(`${at(scene.lair)}${exported}/apibindings`, sent)
        assert.ok(
          [400, 403].includes(reply.status),
          `${JSON.stringify(headers)}: ${reply.text.slice(0, 300)}`,
        )
      }
    })

    it('by a bad token, which is not anonymous either', async () => {
      const forger = await clientOf(userAt(scene.oriel, scene.oriel.url, 'mallory-token2'))
      for (const url of [at(scene.lair) + secrets, `${at(scene.lair)}/version`, '/apis'])
        refused(await forger(url), 401)
    })
  })
}
