import assert from 'node:assert/strict'
import { merge, post } from '../../../conformance/fixture.ts'
import { type Client, clientOf, type Sent } from '../../../support/client.ts'
import { userAt } from '../../../support/watcher.ts'
import {
  at,
  claimedPrefix,
  configMap,
  configMaps,
  done,
  exported,
  type Lair,
  rbac,
  refused,
  secrets,
  widgets,
} from './lair.ts'

export const asProvider = (scene: Lair): void => {
  describe('as a provider', () => {
    let user: Client
    before(async () => {
      user = await clientOf(userAt(scene.oriel, scene.oriel.url, 'provider-token'))
      await scene.provider.kubectl([
        'create',
        'clusterrole',
        'content',
        '--verb=*',
        '--resource=apiexports.apis.kcp.io/content',
      ])
      for (const role of ['content', 'system:kcp:workspace:access'])
        await scene.provider.kubectl([
          'create',
          'clusterrolebinding',
          role.replaceAll(':', '-'),
          `--clusterrole=${role}`,
          '--user=provider',
        ])
    })
    const there = () => `${scene.view}/clusters/${scene.victim.cluster}`

    it('sees only shared objects', async () => {
      const { items = [] } = done(await user(`${scene.view}/clusters/*/api/v1/configmaps`)).json()
      assert.deepEqual(
        items.map(item => item.metadata.name),
        ['open'],
      )
      for (const path of [`${configMaps}/closed`, `${configMaps}/kube-root-ca.crt`])
        refused(await user(there() + path), 404)
      for (const path of [secrets, '/api/v1/namespaces', `${rbac}/clusterroles`, '/api/v1/secrets'])
        refused(await user(there() + path))
      for (const selector of ['shared!=yes', '!shared', 'shared notin (yes)', `${claimedPrefix}x`]) {
        const { items } = done(
          await user(`${there()}${configMaps}?labelSelector=${encodeURIComponent(selector)}`),
        ).json()
        assert.deepEqual(items, [], selector)
      }
    })

    it('may use only the verbs that the consumer has accepted', async () => {
      const tries: readonly [string, Sent][] = [
        [configMaps, post(configMap('new', { shared: 'yes' }))],
        [`${configMaps}/open`, merge({ data: { word: '' } })],
        [`${configMaps}/closed`, merge({ metadata: { labels: { shared: 'yes' } } })],
        [`${configMaps}/open`, { method: 'DELETE' }],
        [configMaps, { method: 'DELETE' }],
        [`${exported}/apibindings/example.com`, merge({ spec: { permissionClaims: [] } })],
        [`${exported}/apibindings/example.com/status`, merge({ status: {} })],
      ]
      for (const [path, sent] of tries) {
        const reply = await user(there() + path, sent)
        assert.ok(
          [403, 404, 405].includes(reply.status),
          `${sent.method} ${path}: ${reply.text.slice(0, 300)}`,
        )
      }
    })

    it('has no other access', async () => {
      for (const url of [
        `${at(scene.victim)}${widgets}`,
        `${at(scene.victim)}${configMaps}`,
        `/clusters/*/apis/example.com/v1/widgets:${scene.identity}`,
      ])
        refused(await user(url))
      refused(await user(`${scene.view}/clusters/${scene.lair.cluster}${widgets}`))
      refused(await user(`${scene.view}/clusters/root${configMaps}`))
    })

    it('cannot use the permissions of the view', async () => {
      const headers = { 'impersonate-user': 'kcp-admin', 'impersonate-group': 'system:masters' }
      for (const cluster of ['*', scene.victim.cluster])
        refused(await user(`${scene.view}/clusters/${cluster}/api/v1/configmaps`, { headers }))
    })
  })
}
