import assert from 'node:assert/strict'
import { Api } from './api.ts'
import { follow } from './follow.ts'
import { linesOf } from './lines.ts'
import { hashOf, isScope, ownPath, placeIn } from './place.ts'
import { ViewRates } from './rates.ts'
import { LiveTable, type Table } from './table.ts'

const streamOf = (...chunks: readonly Uint8Array[]): ReadableStream<Uint8Array> =>
  new ReadableStream({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk)
      controller.close()
    },
  })

describe('the places of the console', () => {
  it('are read from the address and written to it', () => {
    const place = {
      page: 'objects',
      scope: 'root:team',
      choices: { resource: 'widgets.example.com' },
    } as const
    assert.equal(hashOf(place), '#/objects/root%3Ateam?resource=widgets.example.com')
    assert.deepEqual(placeIn(hashOf(place)), place)
    assert.deepEqual(placeIn('#/nothing/%'), { page: 'workspaces', scope: 'root', choices: {} })
  })

  it('are paths of workspaces and views only, because they go into the URLs of requests', () => {
    for (const scope of ['root', 'root:team', '2hx8kq0p4z7vw1a9', '/services/apiexport/a/b.c/clusters/*'])
      assert.ok(isScope(scope), scope)
    const others = [
      ...['', 'root:', '../x', 'root/../../metrics', 'root?x', '//host/clusters/x', 'https://host'],
      ...[
        '/services/../metrics/clusters/*',
        '/services/a/../../x/clusters/*',
        '/clusters/root',
        'javascript:alert(1)',
      ],
      ...['/services/a/clusters/*?x=1', '/services/a#b/clusters/*', 'root\n'],
      ...['/services/%2e%2e/clusters/root', '/services/a/.%2E/%2e./clusters/root'],
      ...[
        '/services/\\..\\../clusters/root',
        '/services/a\\..\\..\\x/clusters/root',
        '/services/./clusters/root',
      ],
    ]
    for (const scope of others) assert.ok(!isScope(scope), scope)
  })

  it('are those of the same server only', () => {
    assert.equal(ownPath('https://a:1/services/x/', 'https://a:1'), '/services/x')
    assert.equal(ownPath('https://b:1/services/x', 'https://a:1'), undefined)
    assert.equal(ownPath('javascript:alert(1)', 'https://a:1'), undefined)
    assert.equal(ownPath('no url', 'https://a:1'), undefined)
  })
})

describe('the lines of a stream', () => {
  it('are whole, also where a chunk ends within a character', async () => {
    const bytes = new TextEncoder().encode('äö\n\nüx')
    const lines: string[] = []
    for await (const line of linesOf(streamOf(bytes.slice(0, 1), bytes.slice(1, 7), bytes.slice(7))))
      lines.push(line)
    assert.deepEqual(lines, ['äö', 'üx'])
  })
})

const rowOf = (name: string, ...cells: readonly unknown[]) => ({ cells, object: { metadata: { name } } })

describe('the live table', () => {
  it('follows the events of a watch, and counts changes by row', () => {
    const table = new LiveTable()
    table.list({
      columnDefinitions: [{ name: 'Name', type: 'string', priority: 0 }],
      rows: [rowOf('b', 'b', 1)],
    })
    table.event({ type: 'ADDED', object: { rows: [rowOf('a', 'a', { x: 1 })] } })
    table.event({ type: 'MODIFIED', object: { rows: [rowOf('b', 'b', null)] } })
    const shown = table.rows.map(({ key, cells, changes }) => [key, ...cells, changes])
    assert.deepEqual(shown, [
      ['//a', 'a', '{"x":1}', 1],
      ['//b', 'b', '', 1],
    ])
    table.event({ type: 'DELETED', object: { rows: [rowOf('a')] } })
    assert.deepEqual(
      table.rows.map(({ key }) => key),
      ['//b'],
    )
    assert.equal(table.events, 3)
  })
})

describe('the live table of a server written in Go', () => {
  it('keeps its columns in events without them, and has no rows where there are none', () => {
    const table = new LiveTable()
    table.list({ columnDefinitions: [{ name: 'Name', type: 'string', priority: 0 }], rows: null })
    assert.deepEqual(table.rows, [])
    table.event({ type: 'ADDED', object: { columnDefinitions: null, rows: [rowOf('a', 'a')] } })
    table.event({ type: 'MODIFIED', object: { columnDefinitions: null, rows: null } })
    assert.deepEqual([table.rows.length, table.columns.length, table.events], [1, 1, 1])
  })
})

describe('the rates of views', () => {
  it('are the differences of two readings by their time', () => {
    const rates = new ViewRates()
    const metrics = (requests: number) =>
      `oriel_view_ready{view="v",path="/services/v",reason=""} 1\noriel_view_requests_total{view="v",code="200"} ${requests}\n`
    assert.deepEqual(rates.read(metrics(5), 1_000)[0]?.requestRates, [])
    assert.deepEqual(rates.read(metrics(25), 3_000)[0]?.requestRates, [10])
    assert.deepEqual(rates.read(metrics(0), 4_000)[0]?.requestRates, [10, 0], 'after a restart of the server')
  })
})

interface Sent {
  readonly path: string
  readonly init: RequestInit
}

/** Answers the requests of the console, one after the other. */
async function withServer<T>(answers: readonly Response[], work: (sent: Sent[]) => Promise<T>): Promise<T> {
  const sent: Sent[] = []
  const before = globalThis.fetch
  globalThis.fetch = async (path, init = {}) => {
    sent.push({ path: String(path), init })
    const answer = answers[sent.length - 1]
    if (answer === undefined) throw new TypeError('no connection')
    return answer
  }
  try {
    return await work(sent)
  } finally {
    globalThis.fetch = before
  }
}

describe('the requests of the console', () => {
  it('send no certificate and no cookie beside a token, and are not written to disk', async () => {
    await withServer([Response.json({}), Response.json({})], async sent => {
      await new Api({ token: 't' }, assert.fail).json('/x')
      await new Api({}, assert.fail).json('/x')
      const [byToken, byCertificate] = sent.map(({ init }) => init as Record<string, unknown>)
      assert.deepEqual([byToken?.credentials, byToken?.cache], ['omit', 'no-store'])
      assert.deepEqual([byCertificate?.credentials, byCertificate?.cache], ['same-origin', 'no-store'])
      assert.deepEqual(byToken?.headers, { accept: 'application/json', authorization: 'Bearer t' })
      assert.deepEqual(byCertificate?.headers, { accept: 'application/json' })
    })
  })

  it('report the words of the server, and the end of the session', async () => {
    let ended = 0
    const status = Response.json({ message: 'Unauthorized' }, { status: 401 })
    await withServer([status, new Response('no', { status: 502 })], async () => {
      const api = new Api({ token: 't' }, () => void ended++)
      await assert.rejects(api.json('/x'), { status: 401, message: 'Unauthorized' })
      assert.equal(ended, 1)
      await assert.rejects(api.json('/x'), { status: 502, message: 'no' })
      await assert.rejects(api.json('/x'), { status: 0, message: 'The server does not respond.' })
      assert.equal(ended, 1)
    })
  })

  it('watch a Table from the version of the list, not from that of its first row', async () => {
    const row = { cells: ['a'], object: { metadata: { name: 'a', resourceVersion: '3' } } }
    const list = Response.json({ metadata: { resourceVersion: '900' }, rows: [row] })
    const ending = new AbortController()
    await withServer([list], async sent => {
      const following = follow<Table, Table>(
        new Api({ token: 't' }, assert.fail),
        { path: '/x', signal: ending.signal },
        {
          list: () => undefined,
          event: () => assert.fail('no event'),
          problem: problem => problem && ending.abort(),
        },
      )
      await following
      assert.match(sent[1]?.path ?? '', /resourceVersion=900$/)
    })
  })

  it('list a Table with all its pages, and at most ten of them', async () => {
    const page = (i: number, token: string) =>
      Response.json({
        metadata: { resourceVersion: '900', continue: token },
        rows: [{ cells: [`${i}`], object: { metadata: { name: `${i}` } } }],
      })
    const shownIn = async (pages: readonly Response[]) => {
      const ending = new AbortController()
      const table = new LiveTable()
      const paths = await withServer([...pages], async sent => {
        const request = { path: '/x?limit=1', signal: ending.signal }
        await follow<Table, Table>(new Api({ token: 't' }, assert.fail), request, {
          list: list => {
            table.list(list)
            ending.abort()
          },
          event: () => assert.fail('no event'),
          problem: problem => assert.equal(problem, undefined),
        })
        return sent.map(({ path }) => path)
      })
      return { names: table.rows.map(({ name }) => name), isCut: table.isCut, paths }
    }
    assert.deepEqual(await shownIn([page(1, 'a+b'), page(2, '')]), {
      names: ['1', '2'],
      isCut: false,
      paths: ['/x?limit=1', '/x?limit=1&continue=a%2Bb'],
    })
    const { names, isCut } = await shownIn(Array.from({ length: 11 }, (_, i) => page(i, 'more')))
    assert.deepEqual([names.length, isCut], [10, true])
  })

  it('wait before they list again when each watch is too old at once', async () => {
    const list = () => Response.json({ metadata: { resourceVersion: '1' }, items: [] })
    const tooOld = () => new Response('{"type":"ERROR","object":{"code":410,"message":"too old"}}\n')
    const ending = new AbortController()
    const problems: unknown[] = []
    await withServer([list(), tooOld(), list(), tooOld()], sent =>
      follow(
        new Api({ token: 't' }, assert.fail),
        { path: '/x', signal: ending.signal },
        {
          list: () => undefined,
          event: () => assert.fail('no event'),
          problem: problem => {
            problems.push(problem)
            if (problem !== undefined) ending.abort()
          },
        },
      ).then(() => assert.equal(sent.length, 2)),
    )
    assert.match(String(problems.at(-1)), /too old/)
  })

  it('list again when a watch cannot be continued', async () => {
    const list = (version: string) => Response.json({ metadata: { resourceVersion: version }, items: [] })
    const line = (event: object) => new TextEncoder().encode(`${JSON.stringify(event)}\n`)
    const watch = new Response(
      streamOf(
        line({ type: 'ADDED', object: { metadata: { name: 'a', resourceVersion: '2' } } }),
        line({ type: 'ERROR', object: { code: 410, message: 'too old' } }),
      ),
    )
    const ending = new AbortController()
    const seen: string[] = []
    await withServer([list('1'), watch, list('9')], async sent => {
      await follow(
        new Api({ token: 't' }, assert.fail),
        { path: '/x', signal: ending.signal },
        {
          list: ({ metadata }) => {
            seen.push(`list ${metadata?.resourceVersion}`)
            if (seen.length === 3) ending.abort()
          },
          event: ({ type }) => void seen.push(type),
          problem: problem => assert.equal(problem, undefined),
        },
      )
      assert.match(sent[1]?.path ?? '', /^\/x\?watch=true&allowWatchBookmarks=true&resourceVersion=1$/)
    })
    assert.deepEqual(seen, ['list 1', 'ADDED', 'list 9'])
  })
})
