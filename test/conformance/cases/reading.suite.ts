import assert from 'node:assert/strict'
import type { Answered, Frame, Reply, Stream } from '../../support/client.ts'
import { expect, merge, post, remove, type Target, table, unless, widget, widgetsIn } from '../fixture.ts'

/** Cases 46 to 55 of rules.md: LIST and WATCH. */
export function readingCases(target: () => Target): void {
  const ask = (path: string): Promise<Reply> => target().client(path)
  const create = (path: string, name: string, spec: object = {}, metadata: object = {}): Promise<Answered> =>
    expect(201, target().client(path, post(widget(name, spec, metadata))))
  const names = (list: Answered) => list.items?.map(item => item.metadata.name)
  const filled = async (...all: readonly string[]): Promise<string> => {
    const path = widgetsIn(await target().namespace())
    for (const name of all) await create(path, name)
    return path
  }
  const next = async (stream: Stream): Promise<Frame> =>
    (await stream.next()) ?? assert.fail('the watch ended')
  const rvOf = (object?: Answered): number => Number(object?.metadata.resourceVersion)

  describe('LIST', () => {
    it('46: pages through one state (4.5, 4.14, 4.16, 4.20)', async () => {
      const path = await filled('a', 'b', 'c', 'd', 'e')
      const page = (token?: string): Promise<Answered> =>
        expect(200, ask(`${path}?limit=2${token ? `&continue=${encodeURIComponent(token)}` : ''}`))
      const one = await page()
      await create(path, 'bb')
      await create(path, 'f')
      const two = await page(one.metadata.continue)
      const three = await page(two.metadata.continue)
      const pages = [one, two, three]
      assert.deepEqual(pages.map(names), [['a', 'b'], ['c', 'd'], ['e']])
      assert.deepEqual(
        pages.map(p => p.metadata.remainingItemCount),
        [3, 1, undefined],
      )
      assert.equal(new Set(pages.map(p => p.metadata.resourceVersion)).size, 1)
      assert.ok(!three.metadata.continue)
      const selected = await expect(200, ask(`${path}?limit=2&labelSelector=!x`))
      assert.equal(selected.metadata.remainingItemCount, undefined)
    })

    it('47: returns a new continue token when a page has expired (4.21, 4.22)', async () => {
      const path = await filled('a', 'b', 'c')
      const { metadata } = await expect(200, ask(`${path}?limit=2`))
      const token = JSON.parse(Buffer.from(metadata.continue ?? '', 'base64url').toString())
      const old = Buffer.from(JSON.stringify({ ...token, rv: 1 })).toString('base64url')
      const reply = await ask(`${path}?limit=2&continue=${old}`)
      // A young store may still have the state before the first object.
      if (reply.status === 200) return assert.deepEqual(reply.json().items, [])
      const expired = await expect(410, Promise.resolve(reply))
      assert.equal(expired.reason, 'Expired')
      assert.match(
        expired.message ?? '',
        /^The provided continue parameter is too old to display a consistent list result/,
      )
      const rest = await expect(200, ask(`${path}?continue=${expired.metadata.continue}`))
      assert.deepEqual(names(rest), ['c'])
    })

    it('48: refuses unavailable resourceVersions (4.8, 4.9, 4.11)', async () => {
      const path = await filled()
      const [future, unmatched, unreadable] = await Promise.all([
        expect(504, ask(`${path}?resourceVersion=9000000000000000`)),
        expect(422, ask(`${path}?resourceVersionMatch=Exact`)),
        expect(400, ask(`${path}?resourceVersion=abc`)),
      ])
      assert.equal(future.details?.causes?.[0]?.reason, 'ResourceVersionTooLarge')
      assert.match(
        unmatched.message ?? '',
        /^ListOptions\.meta\.k8s\.io "" is invalid: resourceVersionMatch: Forbidden/,
      )
      assert.match(unreadable.message ?? '', /invalid resource version/)
    })

    it('49: selects by labels and by the fields that its schema names (4.28, 4.32, 4.33)', async () => {
      const path = await filled()
      await create(path, 'r', { color: 'red' })
      await create(path, 'b', { color: 'blue' })
      const list = (selector: string) => ask(`${path}?${selector}`)
      const labels = await expect(400, list(`labelSelector=${encodeURIComponent('a in (b')}`))
      assert.match(labels.message ?? '', /^unable to parse requirement/)
      const fields = await expect(400, list('fieldSelector=spec.size%3D1'))
      assert.equal(fields.message, 'field label not supported: spec.size')
      assert.deepEqual(names(await expect(200, list('fieldSelector=spec.color%3Dred'))), ['r'])
    })
  })

  describe('WATCH', () => {
    const open: Stream[] = []
    const watch = async (path: string, sent = {}): Promise<Stream> => {
      const stream = await target().client.watch(path, sent)
      open.push(stream)
      return stream
    }
    afterEach(() => {
      for (const stream of open.splice(0)) stream.leave()
    })

    it('50: sends every change of a list’s version and after, once, in order (4.4, 4.52, 4.59)', async () => {
      const path = await filled('before')
      const list = await expect(200, ask(path))
      const stream = await watch(`${path}?watch=1&resourceVersion=${list.metadata.resourceVersion}`)
      const { client } = target()
      await create(path, 'a', { color: 'red' })
      await expect(200, client(`${path}/a`, merge({ spec: { color: 'blue' } })))
      await expect(200, client(`${path}/a`, remove()))
      const events = [await next(stream), await next(stream), await next(stream)]
      assert.deepEqual(
        events.map(event => event.type),
        ['ADDED', 'MODIFIED', 'DELETED'],
      )
      const versions = events.map(event => rvOf(event.object))
      assert.ok(
        versions.every((version, i) => version > (versions[i - 1] ?? rvOf(list))),
        String(versions),
      )
      assert.deepEqual(events[2]?.object.spec, { color: 'blue', size: 1 })
    })

    it('51: sends ADDED and DELETED for objects that start and stop to match (4.53)', async () => {
      const path = await filled('a')
      const { metadata } = await expect(200, ask(path))
      const stream = await watch(
        `${path}?watch=1&labelSelector=x%3Dy&resourceVersion=${metadata.resourceVersion}`,
      )
      const patch = (body: object) => expect(200, target().client(`${path}/a`, merge(body)))
      await patch({ metadata: { labels: { x: 'y' } } })
      await patch({ spec: { color: 'blue' } })
      const last = await patch({ metadata: { labels: { x: null } } })
      const events = [await next(stream), await next(stream), await next(stream)]
      assert.deepEqual(
        events.map(event => event.type),
        ['ADDED', 'MODIFIED', 'DELETED'],
      )
      assert.deepEqual([events[2]?.object.metadata.labels, rvOf(events[2]?.object)], [{ x: 'y' }, rvOf(last)])
    })

    it('52: reports an expired resourceVersion (4.45)', async () => {
      const path = await filled('a')
      const stream = await watch(`${path}?watch=1&resourceVersion=1`)
      const frame = await next(stream)
      // A young store may still have all history.
      if (frame.type === 'ADDED') return
      assert.deepEqual([frame.type, frame.object.reason, frame.object.code], ['ERROR', 'Expired', 410])
      assert.match(frame.object.message ?? '', /^too old resource version: 1 \(\d+\)$/)
      assert.equal(await stream.next(), undefined)
    })

    const initial = 'watch=1&sendInitialEvents=true&allowWatchBookmarks=true'
    const ends = 'k8s.io/initial-events-end'

    it('53: sends initial events, a bookmark at their end, and later events (4.39c, 4.55, 4.64, 4.37)', async () => {
      const path = await filled('a', 'b', 'c')
      const stream = await watch(`${path}?${initial}&resourceVersionMatch=NotOlderThan`)
      const events = [await next(stream), await next(stream), await next(stream), await next(stream)]
      assert.deepEqual(
        events.map(event => event.type),
        ['ADDED', 'ADDED', 'ADDED', 'BOOKMARK'],
      )
      const end = events[3]?.object
      assert.equal(end?.metadata.annotations?.[ends], 'true')
      assert.ok(events.every(event => rvOf(event.object) <= rvOf(end)))
      await create(path, 'd')
      const live = await next(stream)
      assert.deepEqual([live.type, live.object.metadata.name], ['ADDED', 'd'])
      const empty = await watch(`${await filled()}?${initial}&resourceVersionMatch=NotOlderThan`)
      assert.equal((await next(empty)).object.metadata.annotations?.[ends], 'true')
      await expect(422, ask(`${path}?${initial}`))
    })

    const inOneProcess = unless(
      ({ isKcp, isApart }) => isKcp || isApart,
      'a shard in another process sends bookmarks once a minute',
    )
    inOneProcess(target, '54: sends a bookmark before it ends in time, cleanly (4.54, 4.56)', async () => {
      const path = await filled()
      const { metadata } = await expect(200, ask(path))
      const bookmarks = `allowWatchBookmarks=true&resourceVersion=${metadata.resourceVersion}`
      const stream = await watch(`${path}?watch=1&timeoutSeconds=3&${bookmarks}`)
      const { type, object } = await next(stream)
      assert.equal(type, 'BOOKMARK')
      assert.deepEqual([object.kind, object.apiVersion], ['Widget', 'example.com/v1'])
      assert.ok(rvOf(object) >= Number(metadata.resourceVersion))
      let last: Frame | undefined
      do last = await stream.next()
      while (last?.type === 'BOOKMARK')
      assert.equal(last, undefined)
    })

    it('55: defines the columns of a Table once (4.61)', async () => {
      const path = await filled()
      const { metadata } = await expect(200, ask(path))
      const url = `${path}?watch=1&resourceVersion=${metadata.resourceVersion}`
      const stream = await watch(url, { headers: { accept: table } })
      await create(path, 'a', { color: 'red' })
      await create(path, 'b')
      const [first, second] = [await next(stream), await next(stream)] as unknown as { object: Rows }[]
      assert.deepEqual(
        first?.object.columnDefinitions?.map(column => column.name),
        ['Name', 'Color'],
      )
      assert.equal(second?.object.columnDefinitions ?? null, null)
      assert.deepEqual(
        [first?.object.rows[0]?.cells, second?.object.rows[0]?.cells],
        [
          ['a', 'red'],
          ['b', null],
        ],
      )
    })
  })
}

interface Rows {
  readonly columnDefinitions?: readonly { readonly name: string }[]
  readonly rows: readonly { readonly cells: readonly unknown[] }[]
}
