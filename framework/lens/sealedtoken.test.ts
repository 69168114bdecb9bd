import assert from 'node:assert/strict'
import { memoryStorage } from '../../test/support/storage/memorystorage.ts'
import { ask, jsonOf, widget, widgets } from '../../test/support/widgets.ts'
import type { KubeObject } from '../meta/object.ts'
import { kind } from './testing/scene.ts'
import { viewOf } from './view.ts'

describe('continue tokens of a view that hides objects', () => {
  it('do not show the names of hidden objects, and continue the list', async () => {
    const storage = memoryStorage(kind)
    const all = widgets(storage)
    for (const name of ['a', 'sesame', 'z']) await ask(all, { verb: 'create', body: widget(name) })
    const seen = { ...all, storage: viewOf(storage, () => ({ matches: ({ name }) => name !== 'sesame' })) }
    const names: (string | undefined)[] = []
    let token = ''
    do {
      const query = `limit=1&continue=${token}`
      const { items, metadata } = await jsonOf(ask(seen, { verb: 'list', query }))
      names.push(...(items as KubeObject[]).map(item => item.metadata.name))
      token = (metadata as { readonly continue?: string }).continue ?? ''
      const decoded = Buffer.from(token, 'base64url').toString('latin1')
      assert.ok(!`${token}${decoded}`.includes('sesame'), decoded)
    } while (token !== '')
    assert.deepEqual(names, ['a', 'z'])
  })

  it('are 410 if another process made them', async () => {
    const seen = widgets(viewOf(memoryStorage(kind), () => ({ matches: () => true })))
    const token = Buffer.from('{"v":"meta.k8s.io/v1","rv":12,"start":"default/a"}').toString('base64url')
    await assert.rejects(async () => jsonOf(ask(seen, { verb: 'list', query: `continue=${token}` })), {
      code: 410,
    })
  })
})
