import assert from 'node:assert/strict'
import type { KubeObject } from '../../framework/index.ts'
import { idOf, path, QueryScene, where } from './testing/scene.ts'

describe('a query', () => {
  let scene: QueryScene
  beforeEach(async () => {
    scene = await QueryScene.start()
  })
  afterEach(() => scene.oriel.close())

  it('finds the objects for which the expression is true, where the user may list them', async () => {
    assert.deepEqual(await scene.found(scene.ada, path()), ['one/a', 'one/b', 'two/c', 'two/d'])
    assert.deepEqual(await scene.found(scene.ada, path(where("int(object.data['size']) > 1"))), [
      'one/a',
      'two/c',
    ])
    assert.deepEqual(await scene.found(scene.ada, path(where("object.data['size'] == '1'"), 'one')), [
      'one/b',
    ])
    assert.deepEqual(
      await scene.found(scene.ada, path(`${where("cluster.name == 'two'")}&labelSelector=of%3Dd`)),
      ['two/d'],
    )
    assert.deepEqual(await scene.found(scene.admin, path(where("int(object.data['size']) > 2"))), [
      'one/a',
      'secret/hidden',
    ])
  })

  it('orders by a value, also in pages', async () => {
    const by = (more: string) => path(`?orderBy=${encodeURIComponent(`int(object.data['size'])${more}`)}`)
    assert.deepEqual(await scene.found(scene.ada, by('')), ['one/b', 'two/c', 'one/a', 'two/d'])
    assert.deepEqual(await scene.found(scene.ada, by(' desc')), ['one/a', 'two/c', 'one/b', 'two/d'])
    assert.deepEqual(await paged(`${by(' desc')}&limit=1`), [['one/a'], ['two/c'], ['one/b'], ['two/d']])
  })

  it('has full pages of one revision, whose tokens and counts tell nothing of hidden objects', async () => {
    const at = `${path(where("object.data['size'] != '1'"))}&limit=1`
    const first = await scene.ada.request(at)
    const {
      continue: token,
      remainingItemCount,
      resourceVersion,
    } = (first.object?.metadata ?? {}) as Record<string, string>
    assert.equal(remainingItemCount, undefined)
    assert.ok(
      !Buffer.from(token ?? '', 'base64url')
        .toString('latin1')
        .includes('one'),
    )
    await scene.write('two', 'c', '1')
    const second = await scene.ada.request(`${at}&continue=${token}`)
    assert.deepEqual(((second.object?.items ?? []) as KubeObject[]).map(idOf), ['two/c'])
    const { metadata } = second.object as KubeObject & { metadata: Record<string, string> }
    assert.deepEqual([metadata.resourceVersion, metadata.continue], [resourceVersion, undefined])
    assert.equal((await scene.admin.request(`${at}&continue=${token}`)).status, 410)
    assert.equal((await scene.ada.request(`${path('?limit=1')}&continue=${token}`)).status, 410)
  })

  async function paged(at: string): Promise<readonly (readonly string[])[]> {
    const pages: string[][] = []
    let token = ''
    do {
      const { object, text, status } = await scene.ada.request(`${at}&continue=${token}`)
      assert.equal(status, 200, text)
      pages.push(((object?.items ?? []) as KubeObject[]).map(idOf))
      token = ((object?.metadata ?? {}) as { continue?: string }).continue ?? ''
    } while (token !== '')
    return pages
  }

  it('refuses expressions that are wrong, too long or too expensive', async () => {
    const wrong = await scene.ada.request(path(where('object.dat == 1')))
    assert.equal(wrong.status, 400)
    assert.match(wrong.text, /where: line 1, column 7: undefined field 'dat'/)
    assert.match(
      (await scene.ada.request(path(where(`'${'x'.repeat(3_000)}' == ''`)))).text,
      /at most 2048 characters/,
    )
    const notOrdered = await scene.ada.request(path('?watch=1&orderBy=object.metadata.name'))
    assert.equal(notOrdered.status, 400)
  })

  it('has tables with the workspace of each object', async () => {
    const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io'
    const { object, status } = await scene.ada.request(path(), { headers: { accept } })
    assert.equal(status, 200)
    const { columnDefinitions = [], rows = [] } = object as unknown as {
      columnDefinitions: readonly { name: string }[]
      rows: readonly { cells: readonly unknown[] }[]
    }
    assert.equal(columnDefinitions.at(-1)?.name, 'Workspace')
    assert.equal(rows.length, 4)
  })

  it('sends ADDED, MODIFIED and DELETED as objects enter and leave it', async () => {
    const watch = await scene.ada.watch(path(where("object.data['size'] == '1'")))
    await watch.until(events => events.length === 1)
    await scene.write('two', 'c', '1')
    await scene.write('secret', 'hidden', '1')
    await scene.write('one', 'b', '5')
    const events = await watch.until(all => all.length === 3)
    assert.deepEqual(watch.lines(), ['ADDED b', 'ADDED c', 'DELETED b'])
    assert.deepEqual(events[2]?.object.data, { size: '1' })
    watch.close()
  })
})
