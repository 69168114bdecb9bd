import assert from 'node:assert/strict'
import type { ListQuery } from '../../framework/contract/storage.ts'
import type { StatusError } from '../../framework/meta/errors.ts'
import { parseFieldSelector, parseLabelSelector } from '../../framework/selectors/parse.ts'
import { configMap, type Fixture, forever, listed, open } from './testing/fixture.ts'

describe('listing', () => {
  let fixture: Fixture
  beforeEach(async () => {
    fixture = await open({ waitTimeout: 200 })
  })
  afterEach(() => fixture.close())

  const kind = {
    ...configMap,
    fields: { 'data.value': (object: object) => String(Reflect.get(Reflect.get(object, 'data'), 'value')) },
  }
  const list = (query: Partial<ListQuery> = {}) =>
    listed(fixture.maps.list(kind, forever, { cluster: '*', ...query }))
  const items = async (query: Partial<ListQuery> = {}) => (await list(query)).items
  const refused = async (query: Partial<ListQuery>): Promise<StatusError['status']> => {
    try {
      await list(query)
    } catch (error) {
      return (error as StatusError).status
    }
    throw new Error('nothing was refused')
  }
  const some = (...ids: string[]) => Promise.all(ids.map(id => fixture.write(id, '1')))

  it('of nothing is empty and has a version', async () => {
    await fixture.write('a/n/x', '1')
    await fixture.write('a/n/x', undefined)
    assert.deepEqual(await list(), { items: [], meta: { resourceVersion: '2' } })
  })

  it('is in the order of keys: cluster, namespace, name by bytes', async () => {
    await some('b/n/x', 'a/n-1/x', 'a/n/z', 'a/n/a', 'a//x', 'a-b/n/x')
    assert.deepEqual(await items(), ['a-b/n/x=1', 'a//x=1', 'a/n-1/x=1', 'a/n/a=1', 'a/n/z=1', 'b/n/x=1'])
  })

  it('is narrowed by cluster and namespace', async () => {
    await some('a/n/x', 'a/n/y', 'a/m/x', 'ab/n/x', 'b/n/x')
    assert.deepEqual(await items({ cluster: 'a' }), ['a/m/x=1', 'a/n/x=1', 'a/n/y=1'])
    assert.deepEqual(await items({ cluster: 'a', namespace: 'n' }), ['a/n/x=1', 'a/n/y=1'])
    assert.deepEqual(await items({ namespace: 'n' }), ['a/n/x=1', 'a/n/y=1', 'ab/n/x=1', 'b/n/x=1'])
    assert.deepEqual(await items({ cluster: 'c' }), [])
    assert.equal(fixture.maps.count('a'), 3)
    assert.equal(fixture.maps.count(), 5)
  })

  it('is narrowed by labels and fields', async () => {
    await fixture.write('a/n/x', 'red', { app: 'web' })
    await fixture.write('a/n/y', 'blue', { app: 'web' })
    await fixture.write('b/n/x', 'red', { app: 'db' })
    const labels = parseLabelSelector('app=web')
    const fields = (text: string) => parseFieldSelector(text)
    assert.deepEqual(await items({ labels }), ['a/n/x=red', 'a/n/y=blue'])
    assert.deepEqual(await items({ fields: fields('metadata.name=x') }), ['a/n/x=red', 'b/n/x=red'])
    assert.deepEqual(await items({ cluster: 'a', namespace: 'n', fields: fields('metadata.name=x') }), [
      'a/n/x=red',
    ])
    assert.deepEqual(await items({ labels, fields: fields('data.value!=red') }), ['a/n/y=blue'])
    assert.equal((await refused({ fields: fields('spec.x=1') })).message, 'field label not supported: spec.x')
  })

  describe('resourceVersion', () => {
    beforeEach(async () => {
      await fixture.write('a/n/x', '1')
      await fixture.write('a/n/y', '2')
      await fixture.write('a/n/x', undefined)
      await fixture.write('a/n/y', '4')
    })

    it('N is not older than N, Exact is that state', async () => {
      assert.deepEqual(await items({ resourceVersion: '2' }), ['a/n/y=4'])
      assert.deepEqual(await items({ resourceVersion: '2', match: 'NotOlderThan', limit: 5 }), ['a/n/y=4'])
      for (const [resourceVersion, expected] of [
        ['1', ['a/n/x=1']],
        ['2', ['a/n/x=1', 'a/n/y=2']],
        ['3', ['a/n/y=2']],
        ['4', ['a/n/y=4']],
      ] as const) {
        assert.deepEqual(await list({ resourceVersion, match: 'Exact' }), {
          items: expected,
          meta: { resourceVersion },
        })
        assert.deepEqual(await items({ resourceVersion, limit: 5 }), expected, 'the legacy rule')
      }
    })

    it('0 is any state, without a limit', async () => {
      await fixture.write('a/n/z', '5')
      const { items, meta } = await list({ resourceVersion: '0', limit: 1 })
      assert.deepEqual([items.length, meta.continue], [2, undefined])
    })

    it('of the near future is waited for', async () => {
      const later = list({ resourceVersion: '5' })
      await fixture.write('a/n/x', '5')
      assert.deepEqual((await later).items, ['a/n/x=5', 'a/n/y=4'])
    })

    it('of the far future is refused after a while', async () => {
      const status = await refused({ resourceVersion: '999' })
      assert.deepEqual([status.code, status.reason], [504, 'Timeout'])
      assert.equal(status.message, 'Timeout: Too large resource version: 999, current: 4')
      assert.deepEqual(status.details, {
        causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
        retryAfterSeconds: 1,
      })
    })

    it('that is not a number is refused', async () => {
      const status = await refused({ resourceVersion: 'abc' })
      assert.equal(status.code, 400)
      assert.equal(
        status.message,
        'invalid resource version: resourceVersion: Invalid value: "abc": strconv.ParseUint: parsing "abc": invalid syntax',
      )
      assert.match(
        (await refused({ resourceVersion: '99999999999999999999' })).message ?? '',
        /value out of range$/,
      )
    })
  })

  describe('pages', () => {
    const names = Array.from({ length: 10 }, (_, i) => `a/n/x${i}`)
    beforeEach(() => some(...names))

    async function pages(query: Partial<ListQuery>, between: () => Promise<unknown>): Promise<string[][]> {
      const found: string[][] = []
      const versions = new Set<string>()
      for (let token: string | undefined; ; ) {
        const { items, meta } = await list({ ...query, ...(token === undefined ? {} : { continue: token }) })
        found.push(items)
        versions.add(meta.resourceVersion)
        token = meta.continue
        if (token === undefined) break
        await between()
      }
      assert.equal(versions.size, 1)
      return found
    }

    it('show one state, whatever is written between them', async () => {
      let round = 0
      const found = await pages({ limit: 3 }, async () => {
        round++
        await fixture.write('a/n/x9', 'changed')
        await fixture.write(`a/n/x${round + 5}a`, 'new')
        await fixture.write('a/n/x8', undefined)
      })
      assert.deepEqual(
        found.map(page => page.length),
        [3, 3, 3, 1],
      )
      assert.deepEqual(
        found.flat(),
        names.map(name => `${name}=1`),
      )
    })

    it('have remainingItemCount, unless a selector is set', async () => {
      assert.equal((await list({ limit: 4 })).meta.remainingItemCount, 6)
      assert.equal((await list({ cluster: 'a', namespace: 'n', limit: 4 })).meta.remainingItemCount, 6)
      const { meta } = await list({ limit: 4, labels: parseLabelSelector('!x') })
      assert.equal(meta.remainingItemCount, undefined)
      assert.ok(meta.continue)
    })

    it('end without a token when the limit is exactly met', async () => {
      assert.deepEqual((await list({ limit: 10 })).meta, { resourceVersion: '10' })
    })

    it('contain as many selected objects as the limit', async () => {
      await fixture.write('a/n/x3', '1', { l: '1' })
      await fixture.write('a/n/x7', '1', { l: '1' })
      const found = await pages({ limit: 2, labels: parseLabelSelector('!l') }, async () => undefined)
      assert.deepEqual(
        found.map(page => page.length),
        [2, 2, 2, 2],
      )
    })

    it('with a continue token of another request are refused', async () => {
      const { meta } = await list({ limit: 2 })
      const token = meta.continue ?? ''
      assert.equal(
        (await refused({ continue: token, resourceVersion: '3' })).message,
        'specifying resource version is not allowed when using continue',
      )
      assert.equal((await list({ continue: token, resourceVersion: '0', limit: 1 })).items[0], 'a/n/x2=1')
      for (const [bad, why] of [
        ['%%', 'it cannot be decoded'],
        [Buffer.from('[]').toString('base64url'), 'server does not recognize this encoded version '],
        [Buffer.from('null').toString('base64url'), 'server does not recognize this encoded version '],
        [
          Buffer.from('{"v":"v2","rv":1,"start":"x"}').toString('base64url'),
          'server does not recognize this encoded version v2',
        ],
        [
          Buffer.from('{"v":"meta.k8s.io/v1","rv":0,"start":"x"}').toString('base64url'),
          'incorrect encoded start resourceVersion (version meta.k8s.io/v1)',
        ],
        [
          Buffer.from('{"v":"meta.k8s.io/v1","rv":1}').toString('base64url'),
          'encoded start key empty (version meta.k8s.io/v1)',
        ],
        [
          Buffer.from('{"v":"meta.k8s.io/v1","rv":-2,"start":"x"}').toString('base64url'),
          'it cannot be decoded',
        ],
      ]) {
        const status = await refused({ continue: bad ?? '' })
        assert.deepEqual(
          [status.code, status.message],
          [400, `invalid continue token: continue key is not valid: ${why}`],
        )
      }
      assert.equal(
        (await refused({ cluster: 'a', continue: token })).message,
        'invalid continue token: continue key is not valid: it belongs to another list',
      )
    })

    it('show nothing of other clusters and namespaces with a token that a client has made', async () => {
      await some('b/m/y', 'b/n/x', 'b/n/y', 'b/o/x', 'c/n/x')
      for (const [selection, all] of [
        [{ cluster: 'b' }, ['b/m/y=1', 'b/n/x=1', 'b/n/y=1', 'b/o/x=1']],
        [{ cluster: 'b', namespace: 'n' }, ['b/n/x=1', 'b/n/y=1']],
      ] as const) {
        const { meta } = await list({ ...selection, limit: 1 })
        const token = JSON.parse(Buffer.from(meta.continue ?? '', 'base64url').toString()) as object
        for (const start of ['\0', 'a/\0', 'a/n/x2\0', 'b/\0']) {
          const made = Buffer.from(JSON.stringify({ ...token, start })).toString('base64url')
          assert.deepEqual(await items({ ...selection, continue: made }), all, start)
        }
        const later = Buffer.from(JSON.stringify({ ...token, start: 'c/\0' })).toString('base64url')
        assert.deepEqual(await items({ ...selection, continue: later }), [])
      }
    })

    it('whose revision is compacted continue with the current state', async () => {
      await fixture.close()
      fixture = await open({ ring: { events: 3 } })
      await some(...names)
      const first = await list({ limit: 4 })
      for (let i = 0; i < 5; i++) await fixture.write(`a/n/x5`, `later ${i}`)
      const status = await refused({ limit: 4, continue: first.meta.continue ?? '' })
      assert.deepEqual([status.code, status.reason], [410, 'Expired'])
      assert.match(
        status.message ?? '',
        /^The provided continue parameter is too old to display a consistent list result\. You can start a new list without the continue parameter, or use the continue token in this response /,
      )
      const rest = await list({ limit: 4, continue: status.metadata.continue ?? '' })
      assert.deepEqual(rest.items, ['a/n/x4=1', 'a/n/x5=later 4', 'a/n/x6=1', 'a/n/x7=1'])
      assert.equal(rest.meta.resourceVersion, '15')
      const old = await refused({ resourceVersion: '3', match: 'Exact' })
      assert.deepEqual(
        [old.code, old.message],
        [410, 'The resourceVersion for the provided list is too old.'],
      )
    })
  })

  it('that is read slowly keeps its state', async () => {
    const ids = Array.from({ length: 500 }, (_, i) => `a/n/x${String(i).padStart(3, '0')}`)
    await some(...ids)
    const slow = fixture.maps.list(kind, forever, { cluster: '*' })
    const found: string[] = []
    for (let next = await slow.next(); next.done !== true; next = await slow.next()) {
      found.push(...Array.from(next.value, item => item.meta.name))
      await Promise.all(ids.map(id => fixture.write(id, Math.random() < 0.5 ? undefined : 'later')))
    }
    assert.deepEqual(
      found,
      ids.map(id => id.slice(4)),
    )
  })
})
