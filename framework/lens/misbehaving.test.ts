import assert from 'node:assert/strict'
import { testContext } from '../../test/support/context.ts'
import { memoryStorage } from '../../test/support/storage/memorystorage.ts'
import { ask, jsonOf, widget } from '../../test/support/widgets.ts'
import type { RequestContext } from '../contract/context.ts'
import { type Item, itemFrom } from '../contract/item.ts'
import { type Logger, silent } from '../contract/log.ts'
import type { ItemBatch, ResourceStorage } from '../contract/storage.ts'
import { StatusError } from '../meta/errors.ts'
import type { KubeObject } from '../meta/object.ts'
import { encodeObject } from '../wire/encode.ts'
import type { Lens } from './lens.ts'
import { code, hidden, kind, merge, namesIn, scene, visible } from './testing/scene.ts'
import { viewOf } from './view.ts'

/** Without the types, as in JavaScript. */
type Writable = Record<string, Record<string, unknown>>
const writable = (object: object): Writable => object as Writable
const spoiled = (object: object): void => {
  const { spec, metadata } = writable(object)
  if (spec !== undefined) spec.color = '***'
  if (metadata?.labels !== undefined) (metadata.labels as Record<string, string>).app = '***'
}
const texts = (bad: unknown): Readonly<Record<string, string>> => bad as Readonly<Record<string, string>>

/** Storage of items that are decoded once and kept, as caches keep them. */
function kept(): { readonly storage: ResourceStorage; readonly item: Item } {
  const item = itemFrom(encodeObject(visible('a')), { cluster: 'one', namespace: 'ns1', name: 'a' })
  const storage = {
    get: () => item,
    async *list() {
      yield [item]
      return { resourceVersion: '1' }
    },
    async *watch() {
      yield [{ type: 'ADDED', item }]
    },
    update: async (_: unknown, __: unknown, change: (item: Item) => unknown) => {
      await change(item)
      return item
    },
    delete: async (_: unknown, __: unknown, check: (item: Item) => unknown) => {
      await check(item)
      return { item, removed: true }
    },
  } as unknown as ResourceStorage
  return { storage, item }
}

const lenses: Readonly<Record<string, Lens>> = {
  matches: {
    matches(meta) {
      Object.assign(meta.labels, { app: '***' })
      Object.assign(meta.annotations, { seen: '***' })
      return true
    },
  },
  relabel: {
    relabel(meta) {
      Object.assign(meta.labels, { app: '***' })
      return meta
    },
  },
  matchesObject: {
    matchesObject(object) {
      spoiled(object)
      return true
    },
  },
  present: {
    present(object) {
      spoiled(object)
      return object
    },
  },
  accept: {
    accept(object, current, stored) {
      for (const each of [object, current, stored]) if (each !== undefined) spoiled(each)
      return object
    },
  },
}

describe('a lens that changes its arguments', () => {
  for (const [member, lens] of Object.entries(lenses)) {
    it(`changes nothing that is stored: ${member}`, async () => {
      const { storage, item } = kept()
      const before = [JSON.stringify(item.object), JSON.stringify(item.meta.labels)]
      const seen = viewOf(storage, () => ({ accept: object => object, ...lens }))
      const ctx = testContext()
      const key = { cluster: 'one', namespace: 'ns1', name: 'a' }
      const write = { dryRun: false, fieldManager: 'x' }
      const query = { cluster: 'one', initialEvents: true, bookmarks: false }
      await seen.get(ctx, key)
      await seen.list(ctx, query).next()
      await seen.watch(ctx, query).next()
      await seen.update(ctx, key, ({ object }) => object, write)
      await seen.delete(ctx, key, () => undefined, { dryRun: false })
      assert.deepEqual([JSON.stringify(item.object), JSON.stringify(item.meta.labels)], before)
    })
  }

  it('shows the change and not the stored object: present', async () => {
    const { all, seen } = await scene(lenses.present ?? {})
    assert.deepEqual((await jsonOf(ask(seen, { verb: 'get', name: 'a' }))).spec, { color: '***' })
    await ask(all, { verb: 'patch', name: 'a', headers: merge, body: { status: { n: 1 } } })
    assert.deepEqual((await jsonOf(ask(all, { verb: 'get', name: 'a' }))).spec, { color: 'red' })
  })

  it('shows the change and not the stored object: relabel', async () => {
    const { seen } = await scene(lenses.relabel ?? {})
    const { metadata } = await jsonOf(ask(seen, { verb: 'get', name: 'a' }))
    assert.deepEqual((metadata as KubeObject['metadata']).labels, { app: '***' })
  })

  it('shows each object when it returns the same object for all', async () => {
    const one: Record<string, unknown> = {}
    const { seen } = await scene({ present: object => Object.assign(one, object) as unknown as KubeObject })
    assert.deepEqual(await namesIn(seen), ['a', 'b'])
  })
})

const changed = (change: object) => (object: KubeObject) =>
  ({ ...object, metadata: { ...object.metadata, ...change } }) as KubeObject

/** Members that return an invalid value, and the error. */
const wrong: readonly (readonly [says: string, member: string, implementation: unknown])[] = [
  ['present must return an object, but returned undefined', 'present', () => undefined],
  ['present must return an object, but returned null', 'present', () => null],
  ['present must return an object, but returned a string', 'present', () => 'x'],
  ['present must return an object, but returned an array', 'present', () => []],
  ['present must return an object, but returned a promise', 'present', () => Promise.reject(new Error())],
  ['present must return an object with apiVersion, kind and metadata', 'present', () => ({})],
  ['present must return metadata.labels as a map of strings', 'present', changed({ labels: { size: 1 } })],
  ['present must return metadata.annotations as a map of strings', 'present', changed({ annotations: [] })],
  ['present must not change metadata.name', 'present', changed({ name: 'z' })],
  ['present must not change metadata.namespace', 'present', changed({ namespace: 'z' })],
  ['present must not change metadata.uid', 'present', changed({ uid: 'z' })],
  ['present must not change metadata.resourceVersion', 'present', changed({ resourceVersion: undefined })],
  [
    'present returned a value that is not JSON: spec.size is a function',
    'present',
    (object: KubeObject) => ({ ...object, spec: { size: () => 1 } }),
  ],
  ['matches must return a boolean, but returned undefined', 'matches', () => undefined],
  ['matches must return a boolean, but returned a promise', 'matches', async () => false],
  ['matchesObject must return a boolean, but returned a number', 'matchesObject', () => 1],
  ['relabel must return an object, but returned undefined', 'relabel', () => undefined],
  ['relabel must return an object, but returned an object of the class Map', 'relabel', () => new Map()],
  ['relabel must return labels as a map of strings', 'relabel', () => ({ labels: texts({ a: 1 }) })],
  ['relabel must return annotations as a map of strings', 'relabel', () => ({ annotations: texts('x') })],
  ['narrow must return an object, but returned undefined', 'narrow', () => undefined],
  ['narrow must not change the cluster', 'narrow', (query: object) => ({ ...query, cluster: 'two' })],
  ['narrow must not change the cluster', 'narrow', (q: object) => Object.assign(q, { cluster: 'two' })],
  ['narrow must return labels with requirements', 'narrow', (q: object) => ({ ...q, labels: { a: 'b' } })],
  ['annotate must be made by annotator()', 'annotate', { item: (item: Item) => item }],
  ['present must be a function', 'present', 'x'],
  ['match is not a member of a lens', 'match', () => false],
]

const reads = ['get', 'list', 'watch'] as const
const notLenses = [undefined, Promise.resolve({}), () => ({}), [[]], new Map(), { visible: 1 }]

describe('a lens that returns invalid values', () => {
  const failing = async (lens: Lens, verb: (typeof reads)[number]): Promise<unknown> => {
    const { all } = await scene({})
    const seen = { ...all, storage: viewOf(all.storage, () => lens) }
    const ending = new AbortController()
    const asked = { verb, ...(verb === 'get' && { name: 'a' }), signal: ending.signal }
    try {
      const { body } = await ask(seen, asked)
      if (Buffer.isBuffer(body)) return body.toString()
      let text = ''
      for await (const piece of body) text += piece
      return text
    } catch (error) {
      return error
    } finally {
      ending.abort()
    }
  }

  for (const [says, member, implementation] of wrong) {
    it(`is an error: ${says}`, async () => {
      for (const verb of reads) {
        const error = await failing({ [member]: implementation } as Lens, verb)
        if (error instanceof StatusError) assert.equal(error.code, 500, verb)
        const text = error instanceof Error ? error.message : String(error)
        assert.ok(text.includes(says), `${verb}: ${text}`)
        assert.doesNotMatch(text, /\bred\b/)
      }
    })
  }

  it('is an error when the view function returns no lens', async () => {
    for (const verb of reads)
      for (const lens of notLenses) {
        const error = await failing(lens as unknown as Lens, verb)
        assert.ok(error instanceof StatusError && error.code === 500, `${verb}: ${error}`)
        assert.match(error.message, /the view function must return a lens/)
      }
  })

  it('is an error in writes, and nothing is stored', async () => {
    const answers: readonly (readonly [says: RegExp, accept: unknown])[] = [
      [/accept must return an object, but returned undefined/, () => undefined],
      [/accept must return an object, but returned a promise/, async (object: KubeObject) => object],
      [/accept must return metadata.labels as a map of strings/, changed({ labels: { size: 1 } })],
      [/accept must not change metadata.name/, changed({ name: 'z' })],
      [/accept must not change metadata.namespace/, changed({ namespace: 'z' })],
    ]
    for (const [says, accept] of answers) {
      const { all, seen } = await scene({ accept: accept as NonNullable<Lens['accept']> })
      const before = await jsonOf(ask(all, { verb: 'list' }))
      await assert.rejects(ask(seen, { verb: 'create', body: visible('c') }), says)
      await assert.rejects(ask(seen, { verb: 'update', name: 'a', body: hidden('a') }), says)
      assert.deepEqual(await jsonOf(ask(all, { verb: 'list' })), before)
    }
  })
})

describe('a lens that throws', () => {
  it('is a 500 that names the view and the member; the log has the error', async () => {
    const lines: (readonly [fields: object, message: string])[] = []
    const log: Logger = { ...silent, error: (fields, message) => void lines.push([fields, message]) }
    const ctx: RequestContext = { ...testContext(), workspace: 'masked' }
    const { storage } = kept()
    const bug = new TypeError('cannot read secret red')
    const view = viewOf(storage, () => ({
      present: () => {
        throw bug
      },
    }))
    const run = async (): Promise<unknown> =>
      view.get({ ...ctx, record: { ...ctx.record, log } }, { cluster: 'one', namespace: 'ns1', name: 'a' })
    await assert.rejects(run, (error: StatusError) => {
      assert.equal(error.code, 500)
      assert.equal(
        error.message,
        'Internal error occurred: the lens of the view "masked" failed: present threw an error, which the server logged',
      )
      return true
    })
    assert.deepEqual(lines, [
      [
        { err: bug, view: 'masked', member: 'present', resource: 'widgets.example.com' },
        'lens failed: present threw an error',
      ],
    ])
  })

  it('may refuse with a status of its choice', async () => {
    const { seen } = await scene({
      present: () => {
        throw new StatusError(503, 'ServiceUnavailable', 'later')
      },
    })
    assert.equal(await code(ask(seen, { verb: 'get', name: 'a' })), 503)
  })
})

describe('accept', () => {
  const masked: Lens = {
    present: ({ spec: _, ...object }) => object as KubeObject,
    accept: (object, _, stored) => ({ ...object, spec: stored?.spec }),
  }

  it('gets the stored object, so that hidden fields are kept', async () => {
    const { all, seen } = await scene(masked)
    await ask(seen, { verb: 'patch', name: 'a', headers: merge, body: { status: { n: 1 } } })
    const { spec } = await jsonOf(ask(all, { verb: 'get', name: 'a' }))
    assert.deepEqual(spec, { color: 'red' })
  })

  it('does not lose the resourceVersion of the client', async () => {
    const { all, seen } = await scene({
      present: object => ({ ...object }),
      accept: (object, _, stored) => ({ ...(stored ?? object), spec: object.spec }),
    })
    const old = (await jsonOf(ask(seen, { verb: 'get', name: 'a' }))) as unknown as KubeObject
    await ask(all, { verb: 'update', name: 'a', body: { ...visible('a'), spec: { color: 'green' } } })
    assert.equal(await code(ask(seen, { verb: 'update', name: 'a', body: old })), 409)
    assert.deepEqual((await jsonOf(ask(all, { verb: 'get', name: 'a' }))).spec, { color: 'green' })
  })
})

describe('a lens that is not there', () => {
  it('hands over the same objects', async () => {
    const storage = memoryStorage(kind)
    const ctx = testContext()
    const item = await storage.create(ctx, { cluster: 'one', namespace: 'ns1', name: 'c' }, widget('c'), {
      dryRun: false,
      fieldManager: 'x',
    })
    const view = viewOf(storage, () => ({ narrow: query => query }))
    assert.equal(await view.get(ctx, item.key), item)
    const { value } = await view.list(ctx, { cluster: 'one' }).next()
    assert.equal(Array.from(value as ItemBatch)[0], item)
  })
})
