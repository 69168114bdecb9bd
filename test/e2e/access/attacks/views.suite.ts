import assert from 'node:assert/strict'
import { fixture, jsonPatch, merge, post } from '../../../conformance/fixture.ts'
import { eventually } from '../../../support/oriel.ts'
import { bind, bindingOf, exportApi, publishedUrl } from '../../../support/tenants.ts'
import {
  at,
  binding,
  claimedPrefix,
  configMap,
  configMaps,
  done,
  exported,
  identityLabel,
  type Lair,
  refused,
  widgets,
} from './lair.ts'

export const isShownNothingOfOthers = (scene: Lair): void => {
  describe('cannot read objects of others through a view', () => {
    it('by an export of the same API', async () => {
      const schemaAndExport = await exportApi(scene.lair, fixture, [
        { group: '', resource: 'secrets' },
        { group: '', resource: 'configmaps' },
      ])
      await bind(scene.lair, bindingOf(scene.lair, schemaAndExport, []))
      const own = new URL(await publishedUrl(scene.lair, schemaAndExport)).pathname
      for (const path of ['/apis/example.com/v1/widgets', '/api/v1/secrets', '/api/v1/configmaps']) {
        const { items = [] } = done(await scene.mallory(`${own}/clusters/*${path}`)).json()
        assert.deepEqual(
          items.filter(item => item.metadata.annotations?.['kcp.io/cluster'] !== scene.lair.cluster),
          [],
        )
        refused(await scene.mallory(`${own}/clusters/${scene.victim.cluster}${path}`))
      }
    })

    it('by an identity that is written into a status', async () => {
      const status = { status: { identityHash: scene.identity } }
      refused(
        await scene.mallory(`${at(scene.lair)}${exported}/apiexports/example.com/status`, merge(status)),
      )
      done(await scene.mallory(`${at(scene.lair)}${exported}/apiexports/example.com`, merge(status)))
      const { status: kept } = done(
        await scene.mallory(`${at(scene.lair)}${exported}/apiexports/example.com`),
      ).json()
      assert.notEqual((kept as { identityHash: string }).identityHash, scene.identity)
    })

    it('by a claim by identity that no consumer has accepted', async () => {
      const url = `${at(scene.lair)}${exported}/apiexports/example.com`
      const permissionClaims = [
        { group: 'example.com', resource: 'widgets', identityHash: scene.identity, verbs: ['*'] },
      ]
      done(await scene.mallory(url, merge({ spec: { resources: [], permissionClaims } })))
      const own = `/services/apiexport/${scene.lair.cluster}/example.com/clusters`
      const reply = await eventually(
        () => scene.mallory(`${own}/*/apis/example.com/v1/widgets`),
        ({ status, text }) => status !== 200 || !text.includes('"hush"'),
      )
      assert.ok(!reply.text.includes(scene.victim.cluster), reply.text)
      refused(await scene.mallory(`${own}/${scene.victim.cluster}${widgets}`))
    })
  })
}

export const putsNothingIntoViews = (scene: Lair): void => {
  describe('cannot put objects into views of others', () => {
    const seen = async (): Promise<readonly string[]> => {
      const lists = await Promise.all(
        ['/apis/example.com/v1/widgets', '/api/v1/configmaps', `${exported}/apibindings`].map(
          async path => done(await scene.admin(`${scene.view}/clusters/*${path}`)).json().items ?? [],
        ),
      )
      return lists
        .flat()
        .map(item => `${item.kind} ${item.metadata.annotations?.['kcp.io/cluster']}/${item.metadata.name}`)
    }
    let expected: readonly string[]
    before(async () => {
      expected = await seen()
    })
    afterEach(async () => assert.deepEqual(await seen(), expected))

    it('by labels that belong to the server', async () => {
      const shared =
        (await scene.admin(`${scene.view}/clusters/*/api/v1/configmaps`)).json().items?.[0]?.metadata
          .labels ?? {}
      const stolen = Object.fromEntries(
        Object.entries(shared).filter(([key]) => key.startsWith(claimedPrefix)),
      )
      assert.equal(Object.keys(stolen).length, 1)
      const made = done(
        await scene.mallory(`${at(scene.lair)}${configMaps}`, post(configMap('forged', stolen))),
        201,
      ).json()
      assert.deepEqual(made.metadata.labels ?? {}, {})
      const url = `${at(scene.lair)}${configMaps}/forged`
      assert.deepEqual(
        done(await scene.mallory(url, merge({ metadata: { labels: stolen } }))).json().metadata.labels ?? {},
        {},
      )
      const operation = { op: 'add', path: '/metadata/labels', value: stolen }
      assert.deepEqual(
        done(await scene.mallory(url, jsonPatch([operation]))).json().metadata.labels ?? {},
        {},
      )
    })

    it('by the label that binds a binding to an export', async () => {
      const ours = (await scene.admin(`${at(scene.victim)}${exported}/apibindings/example.com`)).json()
        .metadata.labels
      const label = ours?.[identityLabel] ?? ''
      assert.notEqual(label, '')
      const url = `${at(scene.lair)}${exported}/apibindings/example.com`
      const reply = await scene.mallory(url, merge({ metadata: { labels: { [identityLabel]: label } } }))
      assert.ok(reply.status !== 200 || reply.json().metadata.labels?.[identityLabel] !== label, reply.text)
    })

    it('by the annotation with the logical cluster of an object', async () => {
      const annotations = { 'kcp.io/cluster': scene.victim.cluster }
      const forged = {
        ...configMap('elsewhere', { shared: 'yes' }),
        metadata: { name: 'elsewhere', annotations },
      }
      const made = done(await scene.mallory(`${at(scene.lair)}${configMaps}`, post(forged)), 201).json()
      assert.equal(made.metadata.annotations?.['kcp.io/cluster'], scene.lair.cluster)
      const url = `${at(scene.lair)}${configMaps}/elsewhere`
      const patched = done(await scene.mallory(url, merge({ metadata: { annotations } }))).json()
      assert.equal(patched.metadata.annotations?.['kcp.io/cluster'], scene.lair.cluster)
      refused(await scene.admin(`${at(scene.victim)}${configMaps}/elsewhere`), 404)
    })

    it('by the status of a binding', async () => {
      const url = `${at(scene.lair)}${exported}/apibindings/example.com`
      const { status } = (await scene.admin(`${at(scene.victim)}${exported}/apibindings/example.com`)).json()
      refused(await scene.mallory(`${url}/status`, merge({ status })))
      done(await scene.mallory(url, merge({ status })))
      const path = { reference: { export: { path: scene.provider.path, name: 'example.com' } } }
      const moved = await scene.mallory(url, merge({ spec: path }))
      assert.ok([403, 422].includes(moved.status), moved.text)
      refused(
        await scene.mallory(
          `${at(scene.lair)}${exported}/apibindings`,
          post(binding('second', scene.provider.path)),
        ),
      )
    })
  })
}
