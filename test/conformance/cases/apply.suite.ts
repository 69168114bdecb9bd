import assert from 'node:assert/strict'
import type { Answered } from '../../support/client.ts'
import { skip } from '../../support/notrun.ts'
import { expect, group, merge, post, type Target, widget, widgetsIn } from '../fixture.ts'
import {
  applyPatch,
  type Entry,
  entriesOf,
  item,
  own,
  ownersOf,
  type Spec,
  spec,
  type Widgets,
} from '../owners.ts'
import { builtinCases, partCases, updateCases } from './ownership.suite.ts'

/**
 * Cases 30 and 34 to 45 of rules.md, and rules.md 5.51a to 5.51l. Expected managedFields were recorded from kcp, byte for
 * byte except for times.
 */
export function applyCases(target: () => Target): void {
  let path = ''
  before(async function () {
    if (target().isKcp && target().isView) skip(this, "kcp's views write applied objects as ordinary updates")
    path = widgetsIn(await target().namespace())
  })
  const at: Widgets['at'] = (name, sent, query = '') => target().client(`${path}/${name}${query}`, sent)
  const widgets: Widgets = {
    at,
    fresh: () => target().fresh(),
    apply: (name, manager, fields, query = '') =>
      at(name, applyPatch(widget(name, fields)), `?fieldManager=${manager}${query}`),
    create: body => target().client(path, post(body)),
  }
  describe('ownership', () => ownershipCases(widgets))
  describe('lists', () => listCases(widgets))
  describe('updates', () => updateCases(widgets))
  describe('subresources and versions', () => partCases(widgets, target))
  describe('bad input', () => refusalCases(widgets))
  describe('built-in kinds', () => builtinCases(target))
}

function ownershipCases({ fresh, at, apply }: Widgets): void {
  it('34: needs a manager, and creates what is missing (5.52)', async () => {
    const name = fresh()
    const { message } = await expect(422, at(name, applyPatch(widget(name))))
    assert.equal(
      message,
      'PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: is required for apply patch',
    )
    const [entry] = entriesOf(await expect(201, apply(name, 'm1', { size: 2 })))
    const { time, ...rest } = entry as Entry
    assert.match(time ?? '', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
    assert.deepEqual(rest, {
      manager: 'm1',
      operation: 'Apply',
      apiVersion: `${group}/v1`,
      fieldsType: 'FieldsV1',
      fieldsV1: spec({ 'f:size': own }),
    })
  })

  it('35: refuses other values of other managers, unless forced (5.51 b, 5.54)', async () => {
    const name = fresh()
    await expect(201, apply(name, 'm1', { size: 1, color: 'red' }))
    const refused = await expect(409, apply(name, 'm2', { color: 'blue' }))
    const text = 'conflict with "m1"'
    assert.equal(refused.reason, 'Conflict')
    assert.equal(refused.message, `Apply failed with 1 conflict: ${text}: .spec.color`)
    assert.deepEqual(refused.details, {
      causes: [{ reason: 'FieldManagerConflict', message: text, field: '.spec.color' }],
    })
    const forced = await expect(200, apply(name, 'm2', { color: 'blue' }, '&force=true'))
    assert.deepEqual(ownersOf(forced), {
      'm1 Apply': spec({ 'f:size': own }),
      'm2 Apply': spec({ 'f:color': own }),
    })
    const both = await expect(409, apply(name, 'm3', { color: 'red', size: 4 }))
    assert.equal(
      both.message,
      'Apply failed with 2 conflicts: conflicts with "m1":\n- .spec.size\nconflicts with "m2":\n- .spec.color',
    )
  })

  it('36: shares equal values, and removes fields without an owner (5.51 a, c, d)', async () => {
    const name = fresh()
    await expect(201, apply(name, 'm1', { color: 'red' }))
    const shared = await expect(200, apply(name, 'm2', { color: 'red' }))
    assert.deepEqual(Object.keys(ownersOf(shared)), ['m2 Apply', 'm1 Apply'])
    // The object has not changed, so no entry has a new time.
    assert.equal(entriesOf(shared)[0]?.time, undefined)
    const left = await expect(200, apply(name, 'm1', {}))
    assert.equal((left.spec as Spec).color, 'red')
    const gone = await expect(200, apply(name, 'm2', {}))
    assert.deepEqual(gone.spec, { size: 1 })
  })

  it('needs a name, and the version that it says (5.51 i, j, l)', async () => {
    const name = fresh()
    await expect(201, apply(name, 'm1', { color: 'red' }))
    await expect(422, apply(name, '', { color: 'red' }))
    const stale = applyPatch(widget(name, { color: 'blue' }, { resourceVersion: '1' }))
    const { reason, message } = await expect(409, at(name, stale, '?fieldManager=m1'))
    assert.deepEqual([reason, /the object has been modified/.test(message ?? '')], ['Conflict', true])
    const { spec: _, ...identity } = widget(name)
    assert.deepEqual(ownersOf(await expect(200, at(name, applyPatch(identity), '?fieldManager=m1'))), {})
  })

  it('41: does nothing twice (3.27, 5.26)', async () => {
    const name = fresh()
    const again = (code: number): Promise<unknown> =>
      expect(code, apply(name, 'm1', { color: 'red', tags: ['a'] }))
    await again(201)
    // kcp's first write after a creation stores the annotation that it only showed before.
    assert.deepEqual(await again(200), await again(200))
  })

  it('42: adds an entry for fields from before the first apply (5.27)', async () => {
    const name = fresh()
    await expect(201, apply(name, 'm1', { color: 'red' }))
    const cleared = await expect(200, at(name, merge({ metadata: { managedFields: [{}] } })))
    assert.deepEqual(entriesOf(cleared), [])
    assert.deepEqual(entriesOf(await expect(200, at(name, merge({ spec: { size: 2 } })))), [])
    const { message } = await expect(409, apply(name, 'm2', { color: 'blue' }))
    assert.match(
      message ?? '',
      /^Apply failed with 1 conflict: conflict with "before-first-apply" using example\.com\/v1: \.spec\.color$/,
    )
  })

  it('drops all fields with an empty configuration (5.51 l)', async () => {
    const name = fresh()
    await expect(201, apply(name, 'm1', { color: 'red' }))
    await expect(200, apply(name, 'm2', { size: 3 }, '&force=true'))
    const { spec: _, ...identity } = widget(name)
    const left = await expect(200, at(name, applyPatch(identity), '?fieldManager=m1'))
    assert.deepEqual([left.spec, Object.keys(ownersOf(left))], [{ size: 3 }, ['m2 Apply']])
  })

  it('locks by a resourceVersion (5.51 i)', async () => {
    const name = fresh()
    await expect(201, apply(name, 'm1', { color: 'red' }))
    const stale = { ...widget(name, { color: 'red' }), metadata: { name, resourceVersion: '1' } }
    const { message } = await expect(409, at(name, applyPatch(stale), '?fieldManager=m1'))
    assert.match(message ?? '', /the object has been modified; please apply your changes/)
  })
}

function listCases({ fresh, apply }: Widgets): void {
  it('38: merges list items by key, in the order of both (5.47, 5.51 e)', async () => {
    const name = fresh()
    const port = (name: string, port: number): object => ({ name, port })
    await expect(201, apply(name, 'm1', { ports: [port('a', 1), port('b', 2)] }))
    const three = await expect(200, apply(name, 'm2', { ports: [port('c', 3)] }))
    const namesOf = ({ spec }: Answered): unknown =>
      (spec as { ports: { name: string }[] }).ports.map(({ name }) => name)
    assert.deepEqual(namesOf(three), ['a', 'b', 'c'])
    const two = await expect(200, apply(name, 'm1', { ports: [port('b', 2)] }))
    assert.deepEqual(namesOf(two), ['b', 'c'])
    assert.deepEqual(ownersOf(two), {
      'm1 Apply': spec({ 'f:ports': { 'k:{"name":"b"}': item('name', 'port') } }),
      'm2 Apply': spec({ 'f:ports': { 'k:{"name":"c"}': item('name', 'port') } }),
    })
    const { details } = await expect(409, apply(name, 'm3', { ports: [port('c', 4)] }))
    assert.equal(details?.causes?.[0]?.field, '.spec.ports[name="c"].port')
  })

  it('39: merges sets by value, and owns atomic lists as a whole (5.51 f)', async () => {
    const name = fresh()
    await expect(201, apply(name, 'm1', { tags: ['x', 'y'], atom: ['1'] }))
    const merged = await expect(200, apply(name, 'm2', { tags: ['y', 'z'] }))
    assert.deepEqual((merged.spec as Spec).tags, ['x', 'y', 'z'])
    assert.deepEqual(ownersOf(merged), {
      'm1 Apply': spec({ 'f:atom': own, 'f:tags': { 'v:"x"': own, 'v:"y"': own } }),
      'm2 Apply': spec({ 'f:tags': { 'v:"y"': own, 'v:"z"': own } }),
    })
    const { details } = await expect(409, apply(name, 'm2', { tags: ['y', 'z'], atom: ['2'] }))
    assert.equal(details?.causes?.[0]?.field, '.spec.atom')
    const left = await expect(200, apply(name, 'm1', { atom: ['1'] }))
    assert.deepEqual((left.spec as Spec).tags, ['y', 'z'])
  })
}

function refusalCases({ fresh, at, apply }: Widgets): void {
  const schema = (name: string, text: string): string =>
    `failed to create typed patch object (/${name}; example.com/v1, Kind=Widget): ${text}`
  const cases: readonly [title: string, fields: Spec, code: number, text: string][] = [
    ['fields that are not declared', { foo: 1 }, 500, '.spec.foo: field not declared in schema'],
    [
      'repeated keys',
      { ports: [{ name: 'a' }, { name: 'a' }] },
      500,
      '.spec.ports: duplicate entries for key [name="a"]',
    ],
    ['repeated values', { tags: ['a', 'a'] }, 500, '.spec.tags: duplicate entries for key [="a"]'],
    [
      'numbers for strings',
      { color: 5 },
      500,
      '.spec.color: expected string, got &value.valueUnstructured{Value:5}',
    ],
    ['strings for numbers', { size: 'x' }, 500, '.spec.size: expected numeric (int or float), got string'],
    ['scalars for lists', { tags: 'x' }, 500, '.spec.tags: expected list, got &{x}'],
    ['scalars for maps', { free: 'x' }, 500, '.spec.free: expected map, got &{x}'],
  ]
  for (const [title, fields, code, text] of cases)
    it(`40: refuses ${title} (5.44, 5.58)`, async () => {
      const name = fresh()
      const { message, reason } = await expect(code, apply(name, 'm1', fields))
      assert.deepEqual([message, reason], [schema(name, text), undefined])
    })

  it('40: refuses managedFields (5.25)', async () => {
    const name = fresh()
    const body = { ...widget(name), metadata: { name, managedFields: [] } }
    const { message } = await expect(400, at(name, applyPatch(body), '?fieldManager=m1'))
    assert.equal(message, 'metadata.managedFields must be nil')
  })

  it('refuses other kinds, other names, and values that are not objects (5.53)', async () => {
    const name = fresh()
    const messageOf = async (body: object | string): Promise<unknown> =>
      (await expect(400, at(name, applyPatch(body), '?fieldManager=m1'))).message
    assert.equal(
      await messageOf({ ...widget(name), kind: 'Foo' }),
      'invalid object type: example.com/v1, Kind=Foo',
    )
    assert.equal(await messageOf('null'), 'invalid object type: /, Kind=')
    assert.equal(
      await messageOf(widget('b')),
      `the name of the object (b) does not match the name on the URL (${name})`,
    )
    assert.match(String(await messageOf('[]')), /^error decoding YAML: error unmarshaling JSON: /)
    assert.match(
      String(await messageOf('a: [b')),
      /^error decoding YAML: error converting YAML to JSON: yaml: /,
    )
  })

  it('refuses nulls that are not allowed, and keeps the field that they would remove (7.20a)', async () => {
    const name = fresh()
    await expect(201, apply(name, 'm1', { color: 'red', size: 2 }))
    const { details } = await expect(422, apply(name, 'm1', { color: null, size: null, note: null }))
    assert.deepEqual(details?.causes?.[0], {
      reason: 'FieldValueTypeInvalid',
      message: 'Invalid value: "null": spec.color in body must be of type string: "null"',
      field: 'spec.color',
    })
    const { spec: kept } = await expect(200, apply(name, 'm1', { color: 'red', size: null, note: null }))
    assert.deepEqual(kept, { color: 'red', size: 1, note: null })
  })

  it('refuses repeated keys when asked to be strict (2.50)', async () => {
    const name = fresh()
    const body = `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"${name}"},"spec":{"size":1,"size":2}}`
    const { message } = await expect(
      400,
      at(name, applyPatch(body), '?fieldManager=m1&fieldValidation=Strict'),
    )
    assert.equal(
      message,
      'error strict decoding YAML: error converting YAML to JSON: yaml: unmarshal errors:\n  line 1: key "size" already set in map',
    )
  })
}
