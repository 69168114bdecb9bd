import assert from 'node:assert/strict'
import type { Answered, Reply } from '../../support/client.ts'
import {
  betterInViews,
  configMapsIn,
  expect,
  namespaces,
  partial,
  post,
  type Target,
  table,
  widget,
  widgetsIn,
} from '../fixture.ts'

interface Table {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: Answered['metadata']
  readonly rows: readonly object[]
}

/** Shape and selectors of lists (rules.md 1.25 to 1.29 and 4.1 to 4.35). */
export function listCases(target: () => Target): void {
  let ns = ''
  let path = ''
  let maps = ''
  before(async () => {
    ns = await target().namespace()
    path = widgetsIn(ns)
    maps = configMapsIn(ns)
    const { client } = target()
    await expect(201, client(path, post(widget('b', { color: 'red' }, { labels: { x: 'y' } }))))
    await expect(201, client(path, post(widget('a', {}, { labels: { x: 'y' } }))))
    await expect(201, client(path, post(widget('c', { color: 'blue' }))))
    const map = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'm', labels: { x: 'y' } } }
    await expect(201, client(maps, post(map)))
  })
  const ask = (at: string, accept = 'application/json'): Promise<Reply> =>
    target().client(at, { headers: { accept } })
  const named = async (query: string, at = path): Promise<readonly (string | undefined)[]> =>
    (await expect(200, ask(`${at}?${query}`))).items?.map(({ metadata }) => metadata.name) ?? []

  it('hold items of built-in kinds without their kind, but not in the view of an export (4.1, 4.2)', async () => {
    const { kind, apiVersion, metadata, items } = await expect(200, ask(`${maps}?labelSelector=x`))
    assert.deepEqual([kind, apiVersion], ['ConfigMapList', 'v1'])
    assert.match(metadata.resourceVersion ?? '', /^[1-9]\d*$/)
    assert.deepEqual(
      items?.map(item => [item.kind, item.apiVersion, item.metadata.name]),
      [target().isView ? ['ConfigMap', 'v1', 'm'] : [undefined, undefined, 'm']],
    )
    const none = await expect(200, ask(`${maps}?labelSelector=nobody`))
    assert.deepEqual(none.items, [])
  })

  it('are in the order of names, and empty in missing namespaces (2.54, 4.3, 4.6)', async () => {
    assert.deepEqual(await named(''), ['a', 'b', 'c'])
    const { items, metadata } = await expect(200, ask(widgetsIn('ghost')))
    assert.deepEqual(items, [])
    assert.match(metadata.resourceVersion ?? '', /^[1-9]\d*$/)
    const { message } = await expect(404, ask(`${widgetsIn('ghost')}/a`))
    assert.equal(message, 'widgets.example.com "a" not found')
  })

  it('are Tables with the metadata of lists, page by page (4.25, 7.55)', async () => {
    const page = async (query: string) => (await ask(`${path}?${query}`, table)).json<Table>()
    const one = await page('limit=1')
    const { continue: token, remainingItemCount, resourceVersion } = one.metadata
    assert.deepEqual([one.rows.length, remainingItemCount], [1, 2])
    const rest = await page(`continue=${encodeURIComponent(token ?? '')}`)
    assert.deepEqual([rest.rows.length, rest.metadata.resourceVersion], [2, resourceVersion])
    const old = (await ask(path, table.replace('v=v1', 'v=v1beta1'))).json<Table>()
    assert.deepEqual([old.kind, old.apiVersion], ['Table', 'meta.k8s.io/v1beta1'])
  })

  betterInViews(
    target,
    'are of metadata where that is asked, and no objects are lists (1.25, 1.29)',
    async () => {
      const list = await expect(200, ask(path, partial('PartialObjectMetadataList')))
      assert.deepEqual([list.kind, list.apiVersion], ['PartialObjectMetadataList', 'meta.k8s.io/v1'])
      for (const { kind, apiVersion, metadata, ...rest } of list.items ?? []) {
        assert.deepEqual([kind, apiVersion], ['PartialObjectMetadata', 'meta.k8s.io/v1'])
        assert.deepEqual([metadata.managedFields === undefined, rest], [false, {}])
      }
      const { message } = await expect(406, ask(`${maps}/m`, partial('PartialObjectMetadataList')))
      assert.match(
        message ?? '',
        /^you requested PartialObjectMetadataList, but the requested object is not a list/,
      )
    },
  )

  it('select by labels (4.26)', async () => {
    for (const [selector, names] of [
      ['x', ['a', 'b']],
      ['!x', ['c']],
      ['x!=y', ['c']],
      ['x in (y,z)', ['a', 'b']],
      ['x notin (z)', ['a', 'b', 'c']],
      ['x=z', []],
    ] as const)
      assert.deepEqual(await named(`labelSelector=${encodeURIComponent(selector)}`), names, selector)
  })

  it('select by fields, absent ones as empty (4.30, 4.31, 4.33, 4.35)', async () => {
    const by = (selector: string, more = '') => named(`fieldSelector=${encodeURIComponent(selector)}${more}`)
    assert.deepEqual(await by('metadata.name=a'), ['a'])
    assert.deepEqual(await by('metadata.name!=a'), ['b', 'c'])
    assert.deepEqual(await by('spec.color='), ['a'])
    assert.deepEqual(await by('spec.color!=red,metadata.name!=c'), ['a'])
    assert.deepEqual(await by('spec.color==red', '&labelSelector=x'), ['b'])
    const all = await named(`fieldSelector=metadata.namespace%3D${ns}`, '/apis/example.com/v1/widgets')
    assert.deepEqual(all, ['a', 'b', 'c'])
    const { message } = await expect(400, ask(`${path}?fieldSelector=x`))
    assert.equal(message, "invalid selector: 'x'; can't understand 'x'")
  })

  it('support the fields of built-in kinds (4.32, 4.34)', async () => {
    const { message } = await expect(400, ask(`${maps}?fieldSelector=data.a%3Db`))
    assert.match(
      message ?? '',
      /"data\.a" is not a known field selector: only "metadata\.name", "metadata\.namespace"$/,
    )
    const active = `fieldSelector=${encodeURIComponent(`status.phase=Active,metadata.name=${ns}`)}`
    assert.deepEqual(await named(active, namespaces), [ns])
    assert.deepEqual(
      await named('fieldSelector=status.phase%3DTerminating,metadata.name%3Da', namespaces),
      [],
    )
  })

  it('refuse contradictory options (4.9, 4.10, 4.11, 4.18)', async () => {
    const token = encodeURIComponent((await expect(200, ask(`${path}?limit=1`))).metadata.continue ?? '')
    const invalid = 'ListOptions.meta.k8s.io "" is invalid: '
    for (const [query, code, text] of [
      [
        'resourceVersionMatch=Exact',
        422,
        `${invalid}resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided`,
      ],
      [
        'resourceVersionMatch=x&resourceVersion=1',
        422,
        `${invalid}resourceVersionMatch: Unsupported value: "x": supported values: "Exact", "NotOlderThan", ""`,
      ],
      [
        'resourceVersionMatch=Exact&resourceVersion=0',
        422,
        `${invalid}resourceVersionMatch: Forbidden: resourceVersionMatch "exact" is forbidden for resourceVersion "0"`,
      ],
      [
        'sendInitialEvents=true',
        422,
        `${invalid}sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list`,
      ],
      [
        `continue=${token}&resourceVersion=5`,
        400,
        'specifying resource version is not allowed when using continue',
      ],
      [
        'resourceVersion=abc',
        400,
        'invalid resource version: resourceVersion: Invalid value: "abc": strconv.ParseUint: parsing "abc": invalid syntax',
      ],
    ] as const)
      assert.equal((await expect(code, ask(`${path}?${query}`))).message, text, query)
    const { message } = await expect(400, ask(`${path}?continue=x`))
    assert.match(message ?? '', /continue key is not valid: /)
    assert.equal((await expect(400, ask(`${path}?limit=abc`))).reason, 'BadRequest')
  })
}
