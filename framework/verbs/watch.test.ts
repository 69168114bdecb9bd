import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { setImmediate as turn } from 'node:timers/promises'
import { memoryStorage } from '../../test/support/storage/memorystorage.ts'
import { type Asked, ask, type Told, widget, widgets } from '../../test/support/widgets.ts'
import type { ApiResource } from '../contract/apis.ts'
import { type Item, type ItemEvent, initialEventsEnd, itemOf } from '../contract/item.ts'
import type { ItemWatch, ResourceStorage, WatchQuery } from '../contract/storage.ts'
import { StatusError, tooManyRequests } from '../meta/errors.ts'
import type { KubeObject } from '../meta/object.ts'
import { encodeEvents, jsonFrames } from '../responses/watchstream.ts'

interface Frame {
  readonly type: string
  readonly object: Readonly<Record<string, unknown>> & { readonly metadata: KubeObject['metadata'] }
}

const kind = { group: 'example.com', version: 'v1', resource: 'widgets', kind: 'Widget' }

function deferred() {
  let resolve = (): void => undefined
  let reject = (_: Error): void => undefined
  const promise = new Promise<void>((done, failed) => {
    resolve = done
    reject = failed
  })
  return { promise, resolve, reject }
}

/** The frames of a watch in order. */
async function open(
  resource: ApiResource,
  asked: Partial<Asked> = {},
): Promise<{ answer: Told; next(): Promise<Frame | undefined> }> {
  const answer = await ask(resource, { verb: 'watch', ...asked })
  assert.ok(!Buffer.isBuffer(answer.body))
  const chunks = answer.body[Symbol.asyncIterator]()
  let lines: string[] = []
  return {
    answer,
    async next() {
      if (lines.length === 0) {
        const chunk = await chunks.next()
        if (chunk.done) return undefined
        const text = chunk.value.toString()
        assert.ok(text.endsWith('\n'))
        lines = text.trimEnd().split('\n')
      }
      return JSON.parse(lines.shift() ?? '')
    },
  }
}

describe('watch', () => {
  let storage = memoryStorage(kind)
  let resource = widgets(storage)
  let ending = new AbortController()
  beforeEach(() => {
    storage = memoryStorage(kind)
    resource = widgets(storage)
    ending = new AbortController()
  })
  afterEach(() => ending.abort())

  const create = (name: string, metadata: object = {}): Promise<Told> =>
    ask(resource, { verb: 'create', body: widget(name, { color: 'red' }, metadata) })
  const watch = (asked: Partial<Asked> = {}) => open(resource, { signal: ending.signal, ...asked })

  it('answers at once, as plain JSON', async () => {
    const { answer } = await watch({ headers: { 'user-agent': 'curl/8' } })
    assert.deepEqual([answer.status, answer.contentType, answer.flush], [200, 'application/json', true])
  })

  it('sends the current state and then every change', async () => {
    await create('a')
    const events = await watch()
    assert.equal((await events.next())?.type, 'ADDED')
    await create('b')
    await ask(resource, { verb: 'delete', name: 'b' })
    const [added, deleted] = [await events.next(), await events.next()]
    assert.deepEqual([added?.type, added?.object.metadata.name], ['ADDED', 'b'])
    assert.deepEqual([deleted?.type, deleted?.object.kind], ['DELETED', 'Widget'])
  })

  it('sends a bookmark at the end of the initial events', async () => {
    const query = 'sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true'
    const frame = await (await watch({ query })).next()
    assert.equal(frame?.type, 'BOOKMARK')
    assert.equal(frame?.object.metadata.annotations?.[initialEventsEnd], 'true')
  })

  it('sends only selected objects', async () => {
    const events = await watch({ query: 'resourceVersion=1&fieldSelector=metadata.name%3Db' })
    await create('a')
    await create('b')
    assert.equal((await events.next())?.object.metadata.name, 'b')
    const named = await watch({ name: 'a' })
    assert.equal((await named.next())?.object.metadata.name, 'a')
  })

  it('defines a Table’s columns once', async () => {
    const headers = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' }
    const events = await watch({ headers })
    await create('a')
    const first = await events.next()
    await create('b')
    const second = await events.next()
    assert.deepEqual([first?.object.kind, second?.object.kind], ['Table', 'Table'])
    assert.equal(Array.isArray(first?.object.columnDefinitions), true)
    assert.equal(second?.object.columnDefinitions, null)
    const rows = second?.object.rows as readonly { cells: unknown }[]
    assert.deepEqual(
      rows.map(row => row.cells),
      [['b', 'red']],
    )
  })

  it('sends PartialObjectMetadata', async () => {
    const headers = { accept: 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io' }
    const events = await watch({ headers })
    await create('a')
    const frame = await events.next()
    assert.equal(frame?.object.kind, 'PartialObjectMetadata')
    assert.deepEqual(Object.keys(frame?.object ?? {}), ['kind', 'apiVersion', 'metadata'])
  })

  it('sends one ERROR for a lost position, and ends', async () => {
    await create('a')
    await create('b')
    storage.compact()
    const events = await watch({ query: 'resourceVersion=1' })
    const frame = await events.next()
    assert.equal(frame?.type, 'ERROR')
    assert.deepEqual([frame?.object.reason, frame?.object.code], ['Expired', 410])
    assert.equal(await events.next(), undefined)
  })

  it('returns other early failures as errors', async () => {
    const busy: ApiResource = {
      ...resource,
      storage: {
        ...storage,
        // biome-ignore lint/correctness/useYield: it fails before it has anything
        watch: async function* () {
          throw tooManyRequests('storage is (re)initializing', 1)
        },
      },
    }
    await assert.rejects(
      ask(busy, { verb: 'watch' }),
      (error: unknown) => (error as StatusError).code === 429,
    )
  })

  describe('of a storage on another server', () => {
    /** A storage that starts and fails on request of the test. */
    function remote() {
      const begun = deferred()
      const failed = deferred()
      const watch = async function* (_: unknown, { asking }: WatchQuery): ItemWatch {
        asking?.(begun.promise)
        await failed.promise
        yield []
      }
      return { begun, failed, resource: { ...resource, storage: { ...storage, watch } } }
    }

    it('returns its refusal, however late', async () => {
      const { failed, resource } = remote()
      const answer = ask(resource, { verb: 'watch' })
      for (let i = 0; i < 5; i++) await turn()
      failed.reject(new StatusError(403, 'Forbidden', 'no'))
      await assert.rejects(answer, { name: 'StatusError', code: 403 })
    })

    it('responds when it has begun, and sends failures in the stream', async () => {
      const { begun, failed, resource } = remote()
      const answer = open(resource)
      begun.resolve()
      const events = await answer
      assert.equal(events.answer.status, 200)
      failed.reject(new StatusError(403, 'Forbidden', 'no'))
      const frame = await events.next()
      assert.deepEqual([frame?.type, frame?.object.code], ['ERROR', 403])
    })
  })

  it('leaves no timer and no listener when the storage throws at once', async () => {
    let limited: AbortSignal | undefined
    const sick: ResourceStorage = {
      ...storage,
      watch({ signal }) {
        limited = signal
        throw new Error('sick')
      },
    }
    await assert.rejects(ask(widgets(sick), { verb: 'watch', signal: ending.signal }), /sick/)
    assert.equal(limited?.aborted, true)
    assert.equal(getEventListeners(ending.signal, 'abort').length, 0)
  })

  it('ends cleanly at its deadline, and when the request ends', async () => {
    const short = await watch({ query: 'timeoutSeconds=1' })
    assert.equal(await short.next(), undefined)
    const events = await watch()
    const next = events.next()
    ending.abort()
    assert.equal(await next, undefined)
  })

  it('ends the watch of the storage when the client does not read', async () => {
    let signal: AbortSignal | undefined
    const spied: ApiResource = {
      ...resource,
      storage: {
        ...storage,
        watch: (ctx, query) => {
          signal = ctx.signal
          return storage.watch(ctx, query)
        },
      },
    }
    const { body } = await ask(spied, { verb: 'watch', signal: ending.signal })
    assert.ok(!Buffer.isBuffer(body))
    await body[Symbol.asyncIterator]().return?.()
    assert.equal(signal?.aborted, true)
  })

  const bad: readonly [query: string, code: number, message: RegExp][] = [
    [
      'sendInitialEvents=true',
      422,
      /sendInitialEvents requires setting resourceVersionMatch to NotOlderThan$/,
    ],
    ['continue=x', 422, /resourceVersionMatch is forbidden when continue is provided$/],
    ['resourceVersionMatch=NotOlderThan', 422, /forbidden for watch unless sendInitialEvents is provided$/],
    ['resourceVersion=x', 400, /^invalid resource version/],
    ['timeoutSeconds=x', 400, /^strconv.ParseInt/],
    ['labelSelector=a%3D(', 400, /^unable to parse requirement/],
  ]
  for (const [query, code, message] of bad) {
    it(`refuses ${query}`, async () => {
      await assert.rejects(watch({ query }), (error: unknown) => {
        assert.ok(error instanceof StatusError)
        assert.match(error.message, message)
        return error.code === code
      })
    })
  }

  it('refuses YAML and names that contradict the path', async () => {
    const yaml = watch({ headers: { accept: 'application/yaml' } })
    await assert.rejects(
      yaml,
      /application\/json;stream=watch, application\/vnd.kubernetes.protobuf;stream=watch$/,
    )
    const other = watch({ name: 'a', query: 'fieldSelector=metadata.name%3Db' })
    await assert.rejects(other, /fieldSelector metadata.name doesn't match requested name/)
  })
})

describe('encodeEvents', () => {
  const encoding = { framing: jsonFrames, form: (item: Item) => item.bytes, isShared: true }
  it('encodes a shared batch once', async () => {
    const events: readonly ItemEvent[] = [{ type: 'ADDED', item: itemOf(widget('a'), 'one') }]
    const bytes = encodeEvents(events, encoding)
    assert.equal(encodeEvents(events, encoding), bytes)
    assert.match(
      (await bytes).toString(),
      /^\{"type":"ADDED","object":\{"apiVersion":"example.com\/v1".*\}\}\n$/,
    )
  })
})
