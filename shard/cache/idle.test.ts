import assert from 'node:assert/strict'
import { mock } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expired } from '../../framework/meta/errors.ts'
import { encodeStored, type StoredResource, storageKey } from './codec.ts'
import type { ResourceCache } from './resource.ts'
import { configMap, events, type Fixture, forever, keyOf, objectOf, open } from './testing/fixture.ts'

const fleeting: StoredResource = { group: 'example.com', resource: 'fleeting', segment: 'customresources' }
const id = 'root/default/a'

const watch = (cache: ResourceCache, resourceVersion: number) =>
  cache.watch(configMap, forever, {
    cluster: '*',
    initialEvents: false,
    bookmarks: false,
    resourceVersion: String(resourceVersion),
  })

describe('the cache of a resource that nobody uses any more', () => {
  setFlagsFromString('--expose-gc')
  const collectGarbage = runInNewContext('gc') as () => void
  let fixture: Fixture

  beforeEach(async () => {
    mock.timers.enable({ apis: ['setInterval'] })
    fixture = await open({ ring: { minutes: 0 } })
  })
  afterEach(async () => {
    await fixture.close()
    mock.timers.reset()
  })

  const cached = (): ResourceCache => fixture.cache.resource('example.com', 'fleeting', 'customresources')
  const stays = (): boolean => [...fixture.cache.resources()].some(({ name }) => name.startsWith('fleeting'))
  const minute = (): void => mock.timers.tick(60_000)

  async function write(value: string | undefined): Promise<number> {
    const stored = value === undefined ? undefined : encodeStored(objectOf(id, value))
    const revision = await fixture.store.commit([{ key: storageKey(fleeting, keyOf(id)), value: stored }])
    await fixture.cache.at(revision)
    return revision
  }

  /** One minute after which nothing refers to what is idle. */
  async function collected(): Promise<void> {
    minute()
    await turn()
    collectGarbage()
  }

  it('is collected', async () => {
    await write('1')
    await write(undefined)
    await collected()
    assert.equal(fixture.cache.existing('example.com', 'fleeting', 'customresources'), undefined)
    assert.ok(!stays())
  })

  it('does not lose events: a later watch from before them is expired', async () => {
    const first = await write('1')
    const last = await write(undefined)
    await collected()
    await assert.rejects(
      watch(cached(), first).next(),
      expired(`too old resource version: ${first} (${last})`),
    )
  })

  it('stays with an object, with events, with a subscriber and with a watch', async () => {
    await write('1')
    minute()
    assert.ok(stays(), 'with an object')
    const last = await write(undefined)
    const unsubscribe = cached().subscribe(() => undefined, { replay: false })
    minute()
    assert.ok(stays(), 'with a subscriber')
    unsubscribe()
    const watching = events(watch(cached(), last), 1)
    await turn()
    minute()
    assert.ok(stays(), 'with a watch')
    const next = await write('2')
    assert.deepEqual(await watching, [`ADDED ${id}=2@${next}`])
  })

  it('is the same one for who refers to it still', async () => {
    const held = cached()
    await collected()
    assert.ok(!stays())
    await write('1')
    assert.equal(held.count(), 1)
    assert.equal(cached(), held)
  })
})
