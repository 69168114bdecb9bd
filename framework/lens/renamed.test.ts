import assert from 'node:assert/strict'
import fc from 'fast-check'
import { testContext } from '../../test/support/context.ts'
import { memoryStorage } from '../../test/support/storage/memorystorage.ts'
import { type Asked, ask as askIn, bodyOf, jsonOf, widget, widgets } from '../../test/support/widgets.ts'
import type { ApiResource } from '../contract/apis.ts'
import type { ItemEvent, ResourceStorage } from '../index.ts'
import { StatusError } from '../meta/errors.ts'
import type { KubeObject } from '../meta/object.ts'
import { fieldEquals } from '../selectors/selectors.ts'
import { namesIn, prefixed } from './names.ts'
import { type Renaming, renamed } from './renamed.ts'
import { kind } from './testing/scene.ts'

const renaming: Renaming = {
  names: prefixed('zq-'),
  namespaces: namesIn({ default: 'zqhome', other: 'zqaway' }),
}
const inPlace = (name: string, namespace: string, color = 'red'): KubeObject => {
  const made = widget(name, { color }, { labels: { color } })
  return { ...made, metadata: { ...made.metadata, namespace } }
}

interface Scene {
  readonly below: ApiResource
  readonly seen: ApiResource
}

async function scene(storage: ResourceStorage = memoryStorage(kind)): Promise<Scene> {
  const below = widgets(storage, { unconditionalUpdate: true, createOnUpdate: true })
  for (const [name, namespace] of [
    ['hidden', 'zqhome'],
    ['zq-hidden', 'elsewhere'],
    ['zq-', 'zqhome'],
  ] as const)
    await ask(below, { verb: 'create', namespace, body: inPlace(name, namespace, 'secret') })
  return { below, seen: { ...below, storage: renamed(storage, () => renaming) } }
}

const ask = (resource: ApiResource, asked: Asked) => askIn(resource, { namespace: 'default', ...asked })
const items = async (resource: ApiResource, query: Partial<Asked> = {}): Promise<readonly KubeObject[]> =>
  (await jsonOf(ask(resource, { verb: 'list', namespace: '', ...query }))).items as KubeObject[]
const placesOf = (found: readonly KubeObject[]): readonly string[] =>
  found.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`)
const create = (resource: ApiResource, body: object, namespace = 'default') =>
  jsonOf(ask(resource, { verb: 'create', namespace, body }))
const refused = async (run: Promise<unknown>): Promise<StatusError> => {
  const error: unknown = await run.then(
    () => assert.fail('it was accepted'),
    thrown => thrown,
  )
  assert.ok(error instanceof StatusError, String(error))
  return error
}

describe('a storage under other names', () => {
  it('stores and shows objects under the names of each side', async () => {
    const { below, seen } = await scene()
    const made = await create(seen, inPlace('a', 'default'))
    assert.equal((made.metadata as KubeObject['metadata']).name, 'a')
    await create(seen, inPlace('b', 'other'), 'other')
    assert.deepEqual(placesOf(await items(seen)), ['other/b', 'default/a'])
    assert.deepEqual([...placesOf(await items(below))].sort(), [
      'elsewhere/zq-hidden',
      'zqaway/zq-b',
      'zqhome/hidden',
      'zqhome/zq-',
      'zqhome/zq-a',
    ])
    assert.deepEqual(placesOf(await items(seen, { namespace: 'other' })), ['other/b'])
    assert.deepEqual(placesOf(await items(seen, { namespace: 'elsewhere' })), [])
    assert.deepEqual(placesOf(await items(seen, { namespace: 'zqhome' })), [])
  })

  it('answers for hidden objects as for missing ones', async () => {
    const { seen } = await scene()
    for (const [name, namespace] of [
      ['hidden', 'default'],
      ['zq-hidden', 'elsewhere'],
      ['hidden', 'elsewhere'],
      ['hidden', 'zqhome'],
    ] as const)
      for (const asked of [
        { verb: 'get' },
        { verb: 'delete' },
        { verb: 'patch', body: {}, headers: { 'content-type': 'application/merge-patch+json' } },
      ] as const) {
        const { status } = await refused(ask(seen, { ...asked, name, namespace }))
        assert.deepEqual([status.code, status.message], [404, `widgets.example.com "${name}" not found`])
      }
  })

  it('has errors with the names of the view', async () => {
    const { seen } = await scene()
    await create(seen, inPlace('a', 'default'))
    const { status } = await refused(create(seen, inPlace('a', 'default')))
    assert.deepEqual([status.message, status.details?.name], ['widgets.example.com "a" already exists', 'a'])
    const stale = inPlace('a', 'default')
    const body = { ...stale, metadata: { ...stale.metadata, resourceVersion: '1' } }
    const conflict = await refused(ask(seen, { verb: 'update', name: 'a', body }))
    assert.match(conflict.message, /^Operation cannot be fulfilled on widgets\.example\.com "a": /)
  })

  it('selects by the names of the view', async () => {
    const { seen } = await scene()
    for (const name of ['a', 'b']) await create(seen, inPlace(name, 'default'))
    for (const [selector, names] of [
      ['metadata.name=a', ['default/a']],
      ['metadata.name!=a', ['default/b']],
      ['metadata.name=zq-a', []],
      ['metadata.name=hidden', []],
      ['metadata.namespace=default', ['default/a', 'default/b']],
      ['metadata.namespace=zqhome', []],
      ['metadata.namespace!=zqhome', ['default/a', 'default/b']],
      ['spec.color=secret', []],
    ] as const) {
      const query = `fieldSelector=${encodeURIComponent(selector)}`
      assert.deepEqual(placesOf(await items(seen, { query })), names, selector)
    }
    assert.deepEqual(await items(seen, { query: 'labelSelector=color%3Dsecret' }), [])
  })

  it('generates names below the prefix, and shows both without it', async () => {
    const { below, seen } = await scene()
    const { name: _, ...metadata } = inPlace('x', 'default').metadata
    const made = await create(seen, {
      ...inPlace('x', 'default'),
      metadata: { ...metadata, generateName: 'job-' },
    })
    const { name, generateName } = made.metadata as KubeObject['metadata']
    assert.match(name ?? '', /^job-\w+$/)
    assert.equal(generateName, 'job-')
    assert.ok(placesOf(await items(below)).includes(`zqhome/zq-${name}`))
  })

  it('watches the objects of the view under its names', async () => {
    const { below, seen } = await scene()
    const stop = new AbortController()
    const ctx = testContext({ info: { verb: 'watch' }, signal: stop.signal })
    const watching = seen.storage.watch(ctx, {
      cluster: 'one',
      initialEvents: false,
      bookmarks: false,
      resourceVersion: '3',
    })
    const events: ItemEvent[] = []
    await ask(below, { verb: 'create', namespace: 'zqhome', body: inPlace('other', 'zqhome') })
    await create(seen, inPlace('a', 'default'))
    await ask(seen, { verb: 'delete', name: 'a' })
    while (events.length < 2) events.push(...((await watching.next()).value ?? assert.fail('it ended')))
    stop.abort()
    assert.deepEqual(
      events.map(({ type, item }) => `${type} ${item.key.namespace}/${item.object.metadata.name}`),
      ['ADDED default/a', 'DELETED default/a'],
    )
  })

  it('has continue tokens without names, and no count of the rest', async () => {
    const { seen } = await scene()
    for (const name of ['a', 'b', 'c']) await create(seen, inPlace(name, 'default'))
    const first = await jsonOf(ask(seen, { verb: 'list', query: 'limit=1' }))
    const { continue: token = '', remainingItemCount } = first.metadata as Record<string, string>
    assert.equal(remainingItemCount, undefined)
    const readable = [token, Buffer.from(token, 'base64url').toString('latin1')].join()
    assert.ok(!/zqhome|elsewhere|hidden/.test(readable), readable)
    const seenNames = [...placesOf(first.items as KubeObject[])]
    let next = token
    while (next !== '') {
      const page = await jsonOf(ask(seen, { verb: 'list', query: `limit=1&continue=${next}` }))
      seenNames.push(...placesOf(page.items as KubeObject[]))
      next = (page.metadata as Record<string, string>).continue ?? ''
    }
    assert.deepEqual(seenNames, ['default/a', 'default/b', 'default/c'])
    assert.equal((await refused(items(seen, { query: 'limit=1&continue=abc' }))).code, 400)
    const foreign = 'a'.repeat(token.length)
    assert.equal((await refused(items(seen, { query: `limit=1&continue=${foreign}` }))).code, 410)
  })

  it('hides objects whose names are not each other’s inverse, and refuses wrong results', async () => {
    const { below } = await scene()
    const through = (names: Renaming['names']) => {
      const all = names === undefined ? {} : { names }
      return { ...below, storage: renamed(below.storage, () => all) }
    }
    const odd = through({ shown: () => 'same', stored: () => 'zq-x' })
    assert.deepEqual(await items(odd), [])
    const wrong = through({ shown: () => 7 as unknown as string, stored: name => name })
    await assert.rejects(items(wrong), /must return a name or undefined/)
    assert.throws(() => namesIn({ a: 'x', b: 'x' }), /two names of a view mean the same stored name/)
  })

  it('selects nothing for a namespace that the view does not have, with the resourceVersion of the list', async () => {
    const { seen } = await scene()
    const { metadata } = await jsonOf(ask(seen, { verb: 'list', namespace: 'none' }))
    assert.match((metadata as Record<string, string>).resourceVersion ?? '', /^\d+$/)
    const list = seen.storage.list(testContext(), {
      cluster: 'one',
      fields: fieldEquals('metadata.name', 'none'),
    })
    assert.deepEqual((await list.next()).done, true)
  })

  it('answers all requests as a storage that has only the objects of the view', async () => {
    const name = fc.constantFrom('a', 'b', 'hidden', 'zq-hidden', 'zq-a')
    const color = fc.constantFrom('red', 'secret')
    const operation = fc.record({ name, color, verb: fc.constantFrom(...verbs) })
    await fc.assert(
      fc.asyncProperty(fc.array(operation, { maxLength: 12 }), async operations => {
        const { seen } = await scene()
        const alone = widgets(memoryStorage(kind), { unconditionalUpdate: true, createOnUpdate: true })
        for (const each of operations) {
          const [shown, expected] = [await outcome(seen, each), await outcome(alone, each)]
          assert.equal(shown, expected, JSON.stringify(each))
        }
      }),
      { numRuns: 60 },
    )
  })
})

const verbs = ['create', 'update', 'merge', 'apply', 'delete', 'get', 'list', 'table', 'find'] as const
interface Operation {
  readonly verb: (typeof verbs)[number]
  readonly name: string
  readonly color: string
}

function requestOf({ verb, name, color }: Operation): Asked {
  const body = inPlace(name, 'default', color)
  const patch = { verb: 'patch', name } as const
  switch (verb) {
    case 'create':
      return { verb, body }
    case 'update':
      return { verb, name, body }
    case 'merge':
      return {
        ...patch,
        body: { spec: { color } },
        headers: { 'content-type': 'application/merge-patch+json' },
      }
    case 'apply':
      return {
        ...patch,
        body,
        query: 'fieldManager=me',
        headers: { 'content-type': 'application/apply-patch+yaml' },
      }
    case 'table':
      return { verb: 'list', headers: { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' } }
    case 'find':
      return { verb: 'list', query: `fieldSelector=metadata.name%3D${name}&labelSelector=color%3D${color}` }
    case 'list':
      return { verb }
    default:
      return { verb, name }
  }
}

/** The response without what is different in two storages. */
async function outcome(resource: ApiResource, operation: Operation): Promise<string> {
  const text = await ask(resource, requestOf(operation)).then(bodyOf, (error: unknown) => {
    assert.ok(error instanceof StatusError, String(error))
    return JSON.stringify(error.status)
  })
  return text
    .replace(/"(resourceVersion|uid|creationTimestamp|time)":"[^"]*"/g, '"$1":""')
    .replace(/(uid|UID)[^"]*[0-9a-f-]{36}/g, '$1')
}
