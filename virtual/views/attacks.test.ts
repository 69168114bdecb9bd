import assert from 'node:assert/strict'
import type { WatchedEvent } from '../../testing/index.ts'
import { mapsOf, namesOf } from './testing/scene.ts'
import { isSilent, maps, mapWith, plain, TenantScene } from './testing/tenant.ts'

describe('a tenant who reads through a View', () => {
  let tenant: TenantScene
  beforeEach(async () => {
    tenant = await TenantScene.start()
  })
  afterEach(() => tenant.scene.oriel.close())

  it('gets the same refusal for other Views, workspaces and logical clusters, whether they exist or not', async () => {
    const texts = new Set<string>()
    for (const path of [
      mapsOf('all'),
      mapsOf('none'),
      mapsOf('red', 'two'),
      mapsOf('red', 'none'),
      mapsOf('red').replace('/one/', '/two/'),
      mapsOf('red').replace('/one/', '/none/'),
      `${maps.replace('/clusters/one/', '/clusters/two/')}/elsewhere`,
    ]) {
      const { status, text } = await tenant.send('GET', path)
      assert.equal(status, 403, `${path}: ${text}`)
      texts.add(
        text.replace(/\\?"(all|none|red|two|one|elsewhere)\\?"/g, '').replace(/ (get|list)\b/g, ' get'),
      )
    }
    assert.ok(texts.size <= 2, [...texts].join('\n'))
    assert.equal((await tenant.send('GET', plain)).status, 403)
  })

  for (const path of [
    '/services/views/one/red/clusters/one%2f..%2ftwo/api/v1/configmaps',
    '/services/views/one/red/clusters/one/../two/api/v1/configmaps',
    '/services/views/one/red%2f..%2fall/clusters/*/api/v1/configmaps',
    '/services/views/one/red/clusters/*/api/v1/configmaps:0123',
    '/services/views/one/red/clusters/*/api/v1/secrets',
    '/services/views/one/red/clusters/*/apis/views.oriel.dev/v1alpha1/views',
  ])
    it(`finds nothing under ${path}`, async () => {
      const { status, text } = await tenant.send('GET', path)
      assert.ok([400, 403, 404].includes(status), `${status} ${text}`)
      isSilent(text)
    })

  it('sees in a watch no event of an object while it is hidden, and the last visible state when it leaves', async () => {
    const watch = await tenant.ada.watch(mapsOf('red'))
    const byName = await tenant.ada.watch(`${mapsOf('red')}?fieldSelector=metadata.name%3Dconcealed`)
    const paint = (name: string, data: object) =>
      tenant.scene.admin.request(`${plain}/${name}`, { method: 'PATCH', body: { data } })
    await paint('concealed', { size: '1' })
    await paint('shown', { color: 'blue', token: 'topsecret' })
    await paint('shown', { size: '2' })
    await tenant.scene.admin.request(`${plain}/concealed`, { method: 'DELETE' })
    await paint('shown', { color: 'red' })
    const events = await watch.until(all => all.length === 3)
    assert.deepEqual(watch.lines(), ['ADDED shown', 'DELETED shown', 'ADDED shown'])
    isSilent(JSON.stringify(events))
    assert.deepEqual(byName.lines(), [])
    watch.close()
    byName.close()
  })

  it('cannot look into the past by a resourceVersion', async () => {
    const { resourceVersion = '' } = (await tenant.ada.request(mapsOf('red'))).object?.metadata ?? {}
    await tenant.scene.admin.request(`${plain}/shown`, {
      method: 'PATCH',
      body: { data: { token: 'topsecret' } },
    })
    for (const query of [
      `resourceVersion=${resourceVersion}&resourceVersionMatch=Exact`,
      'resourceVersion=1&resourceVersionMatch=Exact',
      'resourceVersion=0',
    ]) {
      const { text } = await tenant.send('GET', `${mapsOf('red')}?${query}`)
      isSilent(text)
    }
    const watch = await tenant.ada.watch(`${mapsOf('red')}?resourceVersion=${resourceVersion}`)
    isSilent(JSON.stringify(await watch.until(all => all.length === 1)))
    watch.close()
  })

  it('reads in bookmarks a version and nothing else', async () => {
    const query = 'sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true'
    const watch = await tenant.ada.watch(`${mapsOf('red')}?${query}`)
    const events = await watch.until(all => all.some(({ type }) => type === 'BOOKMARK'))
    isSilent(JSON.stringify(events))
    const found = events.find(({ type }) => type === 'BOOKMARK')
    const { metadata, ...fields } = (found as WatchedEvent).object
    assert.deepEqual(Object.keys(fields).toSorted(), ['apiVersion', 'kind'])
    assert.deepEqual(Object.keys(metadata).toSorted(), ['annotations', 'resourceVersion'])
    watch.close()
  })

  for (const accept of [
    'application/json;as=Table;v=v1;g=meta.k8s.io',
    'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io',
    'application/vnd.kubernetes.protobuf',
    'application/yaml',
  ])
    it(`finds nothing hidden in ${accept}`, async () => {
      for (const query of ['', '?includeObject=Object', '?includeObject=Metadata']) {
        const { status, text } = await tenant.ada.request(`${mapsOf('red')}${query}`, { headers: { accept } })
        assert.equal(status, 200, text)
        assert.ok(text.includes('shown'))
        isSilent(text)
      }
    })

  for (const selector of [
    'labelSelector=paint%3Dblue',
    'labelSelector=paint+notin+(red)',
    'fieldSelector=metadata.name%3Dconcealed',
    'fieldSelector=metadata.name!%3Dshown',
  ])
    it(`finds nothing by ${selector}`, async () =>
      assert.deepEqual(await tenant.ada.list(`${mapsOf('red')}?${selector}`), []))

  it('learns nothing from limits and continue tokens', async () => {
    await tenant.scene.oriel.cluster('one', mapWith('a', 'red'), mapWith('b', 'blue'), mapWith('c', 'red'))
    const page = async (query: string) => (await tenant.ada.request(`${mapsOf('red')}?${query}`)).object
    const first = await page('limit=1')
    const metadata = (first?.metadata ?? {}) as { continue?: string; remainingItemCount?: number }
    const { continue: token = '', remainingItemCount } = metadata
    assert.equal(remainingItemCount, undefined)
    isSilent(Buffer.from(token, 'base64url').toString('latin1'))
    assert.deepEqual(namesOf((await page(`limit=9&continue=${token}`))?.items ?? []), ['c', 'shown'])
    // The token of a list that shows everything is not valid here, nor is this one there.
    const admins = await tenant.scene.admin.request(`${plain}?limit=1`)
    const foreign = (admins.object as never as { metadata: { continue: string } }).metadata.continue
    for (const other of [foreign, `${token}x`, token.slice(1)])
      assert.ok(
        [400, 410].includes((await tenant.send('GET', `${mapsOf('red')}?limit=1&continue=${other}`)).status),
      )
    assert.equal((await tenant.scene.admin.request(`${mapsOf('all')}?continue=${token}`)).status, 410)
  })

  it('cannot use another version of the kind, or another kind of the source', async () => {
    for (const path of ['/api/v2/configmaps', '/apis/apps/v1/deployments', '/api/v1/namespaces']) {
      const { status, text } = await tenant.send('GET', `/services/views/one/red/clusters/*${path}`)
      assert.ok([403, 404].includes(status), `${status} ${text}`)
    }
    const { text } = await tenant.send('GET', '/services/views/one/red/clusters/*/api/v1')
    const { resources } = JSON.parse(text) as { resources: { name: string }[] }
    assert.deepEqual(
      resources.map(({ name }) => name),
      ['configmaps'],
    )
  })
})
