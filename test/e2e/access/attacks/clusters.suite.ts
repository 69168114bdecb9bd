import assert from 'node:assert/strict'
import { jsonPatch, merge, post, put } from '../../../conformance/fixture.ts'
import type { Sent } from '../../../support/client.ts'
import { apply } from '../../../support/tenants.ts'
import {
  at,
  binding,
  configMaps,
  exported,
  hush,
  type Lair,
  refused,
  secret,
  secrets,
  text,
  widgets,
} from './lair.ts'

export const reachesOtherClusters = (scene: Lair): void => {
  describe('cannot access other logical clusters', () => {
    it('by any spelling of their URL', async () => {
      const { cluster } = scene.victim
      const ways = [
        at(scene.victim),
        '/clusters/root:victim',
        '/clusters/root%3Avictim',
        `/clusters/root:lair/../${cluster}`,
        `/clusters/root:lair/%2e%2e/${cluster}`,
        `/clusters/root:lair/..%2f${cluster}`,
        `/clusters/root:lair%2f..%2f${cluster}`,
        `/clusters/root:lair/clusters/${cluster}`,
        `//clusters/${cluster}`,
        `/clusters//${cluster}`,
        `/./clusters/${cluster}`,
        `/clusters/${cluster}%00`,
        `/clusters/${cluster.toUpperCase()}`,
        `/clusters/${scene.lair.cluster},${cluster}`,
        '/clusters/*',
        '/clusters/%2A',
        '/clusters/**',
        '',
        '/clusters/system:admin',
        '/clusters/system:bound-crds',
        '/clusters/root',
        `/services/apiexport/${scene.lair.cluster}/none/clusters/${cluster}`,
        `/services/apiexport/${scene.lair.cluster}/none/clusters/*`,
        `${scene.view}/clusters/${cluster}`,
        `${scene.view}/clusters/*`,
        `/services/apiexport/${scene.lair.cluster}/../${scene.provider.cluster}/example.com/clusters/*`,
      ]
      for (const way of ways)
        for (const path of [
          secrets,
          `${secrets}/hush`,
          '/api/v1/secrets',
          '/api/v1/secrets?watch=1',
          configMaps,
          widgets,
        ]) {
          const reply = await scene.mallory(way + path)
          assert.ok([400, 403, 404].includes(reply.status), `${way}${path}: ${reply.status}`)
          assert.ok(!text(reply).includes(hush), way)
        }
    })

    it('by continue tokens that begin in front of the own logical cluster', async () => {
      const own = `${at(scene.lair)}/api/v1/configmaps`
      const { metadata } = (await scene.mallory(`${own}?limit=1`)).json()
      const token = JSON.parse(Buffer.from(metadata.continue ?? '', 'base64url').toString()) as object
      for (const start of ['\0', `${scene.victim.cluster}/\0`]) {
        const made = Buffer.from(JSON.stringify({ ...token, start })).toString('base64url')
        const { items = [] } = (await scene.mallory(`${own}?continue=${made}`)).json()
        for (const { metadata } of items)
          assert.equal(metadata.annotations?.['kcp.io/cluster'], scene.lair.cluster)
        const deleted = `${at(scene.lair)}${configMaps}?continue=${made}&dryRun=All`
        const gone = (await scene.mallory(deleted, { method: 'DELETE' })).json().items ?? []
        for (const { metadata } of gone)
          assert.equal(metadata.annotations?.['kcp.io/cluster'], scene.lair.cluster)
      }
    })

    it('with any method', async () => {
      const before = (await scene.admin(`${at(scene.victim)}${secrets}/hush`)).text
      const path = `${at(scene.victim)}${secrets}`
      const tries: readonly [string, Sent][] = [
        [path, post({ ...secret, metadata: { name: 'mine' } })],
        [`${path}/hush`, put(secret)],
        [`${path}/hush`, merge({ data: { word: '' } })],
        [`${path}/hush`, jsonPatch([{ op: 'remove', path: '/data' }])],
        [`${path}/hush`, { method: 'DELETE' }],
        [path, { method: 'DELETE' }],
        [`${path}?dryRun=All`, post({ ...secret, metadata: { name: 'mine' } })],
      ]
      for (const [url, sent] of tries) refused(await scene.mallory(url, sent))
      assert.equal((await scene.admin(`${at(scene.victim)}${secrets}/hush`)).text, before)
    })

    it('by responses that reveal what exists', async () => {
      const shape = async (url: string, sent?: Sent) => {
        const { status, text } = await scene.mallory(url, sent)
        return `${status} ${text}`
      }
      const inner = { apiVersion: 'tenancy.kcp.io/v1alpha1', kind: 'Workspace', metadata: { name: 'inner' } }
      await apply(scene.victim.kubectl, inner)
      await scene.victim.kubectl(['wait', '--for=jsonpath={.status.phase}=Ready', 'workspace/inner'])
      const unknown = '/services/apiexport/0123456789abcdef/nothing/clusters'
      const pairs: readonly [string, string][] = [
        [`${at(scene.victim)}${secrets}`, `/clusters/0123456789abcdef${secrets}`],
        [`/clusters/root:victim:inner${secrets}`, `/clusters/root:victim:nothing${secrets}`],
        ['/clusters/root:victim:inner/apis', '/clusters/root:victim:nothing/apis'],
        [`/clusters/root:victim:inner${secrets}`, `/clusters/root:victim:nothing:at:all${secrets}`],
        [`${at(scene.victim)}${widgets}`, `/clusters/root:victim:inner${widgets}`],
        [
          `${scene.view}/clusters/*${widgets}`,
          `/services/apiexport/${scene.provider.cluster}/nothing/clusters/*${widgets}`,
        ],
        [`${scene.view}/clusters/*${widgets}`, `${unknown}/*${widgets}`],
        [
          `${scene.view}/clusters/${scene.victim.cluster}${widgets}`,
          `${scene.view}/clusters/0123456789abcdef${widgets}`,
        ],
      ]
      for (const [there, nowhere] of pairs) assert.equal(await shape(there), await shape(nowhere), nowhere)
      const create = (path: string, of: string) =>
        scene.mallory(`${at(scene.lair)}${exported}/apibindings`, post(binding('x', path, of)))
      const words = async (path: string, of: string) =>
        (await create(path, of)).text.replaceAll(`${path}:${of}`, 'it')
      assert.equal(await words('root:provider', 'example.com'), await words('root:provider', 'nothing'))
      assert.equal(await words('root:provider', 'example.com'), await words('root:nothing', 'nothing'))
    })

    it('by the identity hash of an API', async () => {
      for (const url of [
        `${at(scene.lair)}/apis/example.com/v1/widgets:${scene.identity}`,
        `/clusters/*/apis/example.com/v1/widgets:${scene.identity}`,
        `${at(scene.victim)}/apis/example.com/v1/widgets:${scene.identity}`,
        `/apis/example.com/v1/widgets:${scene.identity}`,
        `${at(scene.lair)}/apis/example.com/v1/namespaces/default/widgets:${scene.identity}/hush`,
        `${at(scene.lair)}/api/v1/secrets:${scene.identity}`,
      ])
        for (const more of ['', '?watch=1']) {
          const reply = await scene.mallory(url + more)
          assert.ok([403, 404].includes(reply.status), `${url}: ${reply.status}`)
        }
    })
  })
}
