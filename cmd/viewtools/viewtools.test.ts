import assert from 'node:assert/strict'
import fc from 'fast-check'
import type { KubeObject } from '../../framework/meta/object.ts'
import { Changes } from './changes.ts'
import { differencesOf } from './differences.ts'
import { samplesOf } from './samples.ts'
import { reportsOf } from './viewreport.ts'
import { tableOf } from './views.ts'

const text = `
# HELP oriel_view_ready Whether a view is ready.
oriel_view_ready{view="team",path="/services/team/:team",reason=""} 1
oriel_view_ready{view="sick",path="/services/a\\"b",reason="failing"} 0
oriel_view_requests_total{view="team",code="200"} 8
oriel_view_requests_total{view="team",code="403"} 1
oriel_view_requests_total{view="team",code="503"} 2
oriel_view_requests_total{view="team",code="500"} 3
oriel_view_request_seconds_total{view="team"} 0.028
oriel_view_watches{view="team"} 2
oriel_view_watch_events_total{view="team"} 40
oriel_view_sent_bytes_total{view="team"} 1e+3
oriel_view_process_starts_total{view="sick"} 3
oriel_view_process_resident_memory_bytes{view="sick"} 104857600
process_cpu_seconds_total 3.2
`

describe('the report of views', () => {
  it('is made from the metrics of a server', () => {
    assert.deepEqual(reportsOf(samplesOf(text, 'oriel_view_')), [
      {
        view: 'sick',
        path: '/services/a"b',
        notReady: 'failing',
        requests: 0,
        refused: 0,
        errors: 0,
        watches: 0,
        events: 0,
        bytes: 0,
        milliseconds: 0,
        process: { memory: 104857600, restarts: 2 },
      },
      {
        view: 'team',
        path: '/services/team/:team',
        notReady: '',
        requests: 14,
        refused: 3,
        errors: 3,
        watches: 2,
        events: 40,
        bytes: 1000,
        milliseconds: 2,
      },
    ])
  })

  it('is a table with aligned columns', () => {
    assert.equal(
      tableOf(reportsOf(samplesOf(text, 'oriel_view_'))),
      [
        'VIEW  PATH                  READY        REQUESTS  REFUSED  ERRORS  WATCHES  EVENTS  BYTES  MS  PROCESS',
        'sick  /services/a"b         no: failing  0         0        0       0        0       0      0   100 MiB, 2 restarts',
        'team  /services/team/:team  yes          14        3        3       2        40      1000   2   -',
        '',
      ].join('\n'),
    )
  })
})

const object = (name: string, data: object, more = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'default', annotations: { 'kcp.io/cluster': 'one' }, ...more },
  data,
})

describe('the differences of objects', () => {
  it('are fields with both values, without those that every write changes', () => {
    const before = object('a', { text: 'x', gone: 1, list: [1, 2] }, { resourceVersion: '1', generation: 1 })
    const after = object(
      'a',
      { text: 'y', new: { deep: true }, list: [1, 3] },
      { resourceVersion: '2', generation: 2 },
    )
    assert.deepEqual(differencesOf(before, after), [
      'data.text: "x" → "y"',
      'data.gone: 1 → (none)',
      'data.list[1]: 2 → 3',
      'data.new: (none) → {"deep":true}',
    ])
  })

  it('have paths that can be read, and short values', () => {
    assert.deepEqual(differencesOf({ 'a.b/c': 1 }, { 'a.b/c': 2 }), ['["a.b/c"]: 1 → 2'])
    assert.equal(differencesOf({ a: 'x'.repeat(500) }, { a: '' })[0]?.length, 'a:  → ""'.length + 201)
  })

  it('have names that all objects inherit', () => {
    assert.deepEqual(differencesOf({}, { toString: { a: 1 } }), ['toString: (none) → {"a":1}'])
  })

  it('are none for equal values, and some for all others', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (a, b) => {
        assert.deepEqual(differencesOf({ value: a }, { value: structuredClone(a) }), [])
        const isSame = JSON.stringify(a) === JSON.stringify(b)
        if (differencesOf({ value: a }, { value: b }).length > 0) assert.ok(!isSame)
      }),
    )
  })
})

describe('the changes of a watched list', () => {
  it('are lines for objects that come, change and go', () => {
    const changes = new Changes()
    assert.deepEqual(changes.list([object('a', {}), object('b', {})]), ['+ one default/a', '+ one default/b'])
    assert.deepEqual(changes.event('MODIFIED', object('a', { text: 'x' })), [
      '~ one default/a',
      '    data.text: (none) → "x"',
    ])
    assert.deepEqual(changes.event('MODIFIED', object('a', { text: 'x' })), [])
    assert.deepEqual(changes.event('BOOKMARK', object('', {})), [])
    assert.deepEqual(changes.event('DELETED', object('b', {})), ['- one default/b'])
    assert.deepEqual(changes.event('DELETED', object('b', {})), [])
  })

  it('are the differences of two lists after a gap', () => {
    const changes = new Changes()
    changes.list([object('a', {}), object('b', {})])
    assert.deepEqual(changes.list([object('b', { n: 1 }), object('c', {})]), [
      '~ one default/b',
      '    data.n: (none) → 1',
      '+ one default/c',
      '- one default/a',
    ])
  })
})
