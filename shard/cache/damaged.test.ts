import assert from 'node:assert/strict'
import { type Logger, silent } from '../../framework/contract/log.ts'
import { parseLabelSelector } from '../../framework/selectors/parse.ts'
import { openMemoryStore } from '../store/memory.ts'
import type { Store, StoredValue } from '../store/store.ts'
import { encodeStored, storageKey } from './codec.ts'
import {
  configMap,
  configMaps,
  type Fixture,
  forever,
  keyOf,
  listed,
  objectOf,
  open,
} from './testing/fixture.ts'

/** A store that finds the objects of these keys damaged when it is read. */
const damaging = (store: Store, keys: readonly string[]): Store =>
  new Proxy(store, {
    get(target, name) {
      if (name === 'range')
        return async function* (...args: Parameters<Store['range']>) {
          for await (const values of store.range(...args))
            yield values.map(
              (value): StoredValue => (keys.includes(value.key) ? { ...value, damaged: true } : value),
            )
        }
      const value = Reflect.get(target, name, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })

describe('a damaged object', () => {
  const lines: string[] = []
  const log: Logger = {
    ...silent,
    error: (fields, text) => void lines.push(`${text} ${JSON.stringify(fields)}`),
  }
  let fixture: Fixture
  beforeEach(async () => {
    lines.length = 0
    const store = openMemoryStore()
    for (const id of ['a/n/x', 'a/n/y', 'b/n/x'])
      await store.commit([
        { key: storageKey(configMaps, keyOf(id)), value: encodeStored(objectOf(id, '1', { id: 'l' })) },
      ])
    await store.compact(3)
    fixture = await open({ log }, damaging(store, [storageKey(configMaps, keyOf('a/n/y'))]))
  })
  afterEach(() => fixture.close())

  const damaged = {
    code: 500,
    reason: 'InternalError',
    message: 'Internal error occurred: the stored object a/n/y of configmaps is damaged (revision 2)',
  }
  const list = (selection: object) =>
    listed(fixture.maps.list(configMap, forever, { cluster: '*', ...selection }))

  it('is named in the log', () => {
    assert.deepEqual(lines, [
      'a stored object is damaged: restore it from a backup {"key":"/registry/a/core/configmaps/-/n/y","revision":2}',
    ])
  })

  it('fails only reads of the damaged object', async () => {
    assert.throws(() => fixture.maps.get(keyOf('a/n/y')), damaged)
    for (const selection of [{}, { cluster: 'a' }, { cluster: 'a', namespace: 'n' }, { limit: 1 }])
      await assert.rejects(list(selection), damaged)
    const watch = fixture.maps.watch(configMap, forever, {
      cluster: 'a',
      initialEvents: true,
      bookmarks: false,
    })
    await assert.rejects(watch.next(), damaged)
    await assert.rejects(list({ labels: parseLabelSelector('x') }), {
      ...damaged,
      message: 'Internal error occurred: a stored object of configmaps is damaged, the log names it',
    })
    assert.equal(fixture.maps.get(keyOf('a/n/x'))?.key.name, 'x')
    assert.deepEqual((await list({ cluster: 'b' })).items, ['b/n/x=1'])
    assert.deepEqual((await list({ cluster: 'a', namespace: 'm' })).items, [])
  })

  it('is read again when it is written again', async () => {
    await fixture.write('a/n/y', '2')
    assert.deepEqual((await list({})).items, ['a/n/x=1', 'a/n/y=2', 'b/n/x=1'])
    assert.equal(fixture.maps.get(keyOf('a/n/y'))?.modified, 4)
  })
})
