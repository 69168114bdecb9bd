import assert from 'node:assert/strict'
import type { Sent } from '../../support/client.ts'
import {
  betterTogether,
  configMapsIn,
  expect,
  group,
  merge,
  post,
  put,
  type Target,
  widget,
  widgetsIn,
} from '../fixture.ts'
import { applyPatch, entriesOf, item, mergeBy, own, ownersOf, spec, type Widgets } from '../owners.ts'

export function updateCases({ fresh, at, apply, create }: Widgets): void {
  it('11: tracks creations, with defaults (5.59)', async () => {
    const object = await expect(201, create({ ...widget(''), metadata: { generateName: 'w-' } }))
    assert.deepEqual(entriesOf(object)[0]?.fieldsV1, {
      'f:metadata': { 'f:generateName': own },
      'f:spec': { '.': own, 'f:size': own },
    })
  })

  it('37: moves a field to the manager that changes it, and conflicts with the next apply (5.51 g, h)', async () => {
    const name = fresh()
    await expect(201, apply(name, 'm1', { color: 'red', size: 3 }))
    const same = await expect(200, at(name, mergeBy('curl', { spec: { color: 'red' } })))
    assert.deepEqual(Object.keys(ownersOf(same)), ['m1 Apply'])
    const changed = await expect(200, at(name, mergeBy('curl', { spec: { color: 'blue' } })))
    assert.deepEqual(ownersOf(changed), {
      'm1 Apply': spec({ 'f:size': own }),
      'curl Update': spec({ 'f:color': own }),
    })
    const { message } = await expect(409, apply(name, 'm1', { color: 'red', size: 3 }))
    assert.equal(
      message,
      'Apply failed with 1 conflict: conflict with "curl" using example.com/v1: .spec.color',
    )
  })

  it('owns structs, maps and items that it creates (5.46)', async () => {
    const name = fresh()
    const fields = { ports: [{ name: 'x' }], free: { a: { b: 1 }, c: [1] }, tags: ['t'], note: null }
    const object = await expect(201, create(widget(name, fields, { labels: { app: 'x' } })))
    assert.deepEqual(entriesOf(object)[0]?.fieldsV1, {
      'f:metadata': { 'f:labels': item('app') },
      'f:spec': {
        '.': own,
        'f:free': { '.': own, 'f:a': item('b'), 'f:c': own },
        'f:note': own,
        'f:ports': { '.': own, 'k:{"name":"x"}': item('name') },
        'f:size': own,
        'f:tags': { '.': own, 'v:"t"': own },
      },
    })
  })

  it('45: keeps ten updaters, and merges the oldest (5.28)', async () => {
    const name = fresh()
    await expect(201, create(widget(name)))
    for (let i = 10; i < 21; i++)
      await expect(200, at(name, mergeBy(`m${i}`, { metadata: { labels: { [`l${i}`]: 'x' } } })))
    const entries = entriesOf(await expect(200, at(name)))
    assert.equal(entries.length, 10)
    assert.ok(entries.some(({ manager }) => manager === 'ancient-changes'))
  })

  it('lets clients edit managedFields (5.24, 5.63)', async () => {
    const name = fresh()
    const [entry] = entriesOf(await expect(201, apply(name, 'm1', { color: 'red' })))
    const renamed = await expect(
      200,
      at(name, merge({ metadata: { managedFields: [{ ...entry, manager: 'm9' }] } })),
    )
    assert.deepEqual(Object.keys(ownersOf(renamed)), ['m9 Apply'])
    const broken = await expect(
      200,
      at(name, merge({ metadata: { managedFields: [{ ...entry, operation: 'x' }] } })),
    )
    assert.deepEqual(Object.keys(ownersOf(broken)), ['m9 Apply'])
  })
}

export function partCases({ fresh, at, apply, create }: Widgets, target: () => Target): void {
  it('43: applies to the status alone, and never creates there (5.51 k, 5.56)', async () => {
    const name = fresh()
    const body = { ...widget(name, { color: 'blue' }), status: { phase: 'P' } }
    await expect(404, at(name, applyPatch(body), '/status?fieldManager=st'))
    await expect(201, apply(name, 'm1', { color: 'red' }))
    const applied = await expect(200, at(name, applyPatch(body), '/status?fieldManager=st'))
    assert.deepEqual([applied.spec, applied.status], [{ color: 'red', size: 1 }, { phase: 'P' }])
    assert.deepEqual(ownersOf(applied)['st Apply status'], { 'f:status': { 'f:phase': own } })
    const ignored = await expect(200, apply(name, 'm1', { color: 'red' }))
    assert.equal(ignored.metadata.resourceVersion, applied.metadata.resourceVersion)
  })

  it('maps the ownership of replicas between an object and its Scale (5.57)', async () => {
    const name = fresh()
    await expect(201, apply(name, 'm1', { replicas: 1, size: 2 }))
    await expect(200, at(name, mergeBy('scaler', { spec: { replicas: 2 } }), '/scale'))
    assert.deepEqual(ownersOf(await expect(200, at(name))), {
      'm1 Apply': spec({ 'f:size': own }),
      'scaler Update scale': spec({ 'f:replicas': own }),
    })
    const { message } = await expect(409, apply(name, 'm1', { replicas: 1, size: 2 }))
    assert.match(
      message ?? '',
      /conflict with "scaler" with subresource "scale" using example\.com\/v1: \.spec\.replicas$/,
    )
  })

  it('takes replicas from updaters with every write to a Scale, and gives them back apart (5.57)', async () => {
    const name = fresh()
    const made = await expect(201, create(widget(name, { replicas: 1, size: 2 })))
    const maker = entriesOf(made)[0]?.manager
    const scale = await expect(200, at(name, undefined, '/scale'))
    await expect(200, at(name, { ...put(scale), headers: { 'user-agent': 'other/8' } }, '/scale'))
    const timed = async () =>
      entriesOf(await expect(200, at(name))).map(({ manager, time, fieldsV1 }) => [
        manager,
        time !== undefined,
        fieldsV1,
      ])
    const rest = spec({ '.': {}, 'f:size': own })
    assert.deepEqual(await timed(), [
      [maker, false, spec({ 'f:replicas': own })],
      [maker, true, rest],
    ])
    // Of two entries of one manager the second is known.
    await expect(200, at(name, mergeBy('another', { spec: { replicas: 1 } }), '/scale'))
    assert.deepEqual(await timed(), [[maker, true, rest]])
  })

  it('has one entry per applier, whose version moves, and one per version of an updater (5.18)', async () => {
    const name = fresh()
    await expect(201, apply(name, 'm1', { color: 'red', tags: ['a'] }))
    const old = { ...widget(name, { color: 'red' }), apiVersion: `${group}/v1beta1` }
    const { metadata } = await expect(200, at(name))
    const path = `${widgetsIn(metadata.namespace ?? '', 'v1beta1')}/${name}?fieldManager=m1`
    const moved = await expect(200, target().client(path, applyPatch(old)))
    assert.deepEqual(
      entriesOf(moved).map(({ manager, apiVersion }) => [manager, apiVersion]),
      [['m1', `${group}/v1beta1`]],
    )
    assert.deepEqual(moved.spec, { color: 'red', size: 1 })
  })
}

export function builtinCases(target: () => Target): void {
  const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration'
  let path = ''
  before(async () => {
    path = configMapsIn(await target().namespace())
  })
  const configMap = (name: string, data: object, metadata: object = {}): object => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, ...metadata },
    data,
  })
  const strategic = (body: object): Sent => ({
    method: 'PATCH',
    body,
    headers: { 'content-type': 'application/strategic-merge-patch+json' },
  })

  it('30: supports strategic merge patches (5.13–5.17)', async () => {
    const name = target().fresh()
    await expect(201, target().client(path, post(configMap(name, { k: '1', l: '2' }))))
    const at = `${path}/${name}`
    const patched = await expect(200, target().client(at, strategic({ data: { k: null } })))
    assert.deepEqual(patched.data, { l: '2' })
    const finalizers = (...all: readonly string[]): object => ({ metadata: { finalizers: all } })
    await expect(200, target().client(at, strategic(finalizers('a/b'))))
    const held = await expect(200, target().client(at, strategic(finalizers('c/d'))))
    assert.deepEqual([...(held.metadata.finalizers ?? [])].sort(), ['a/b', 'c/d'])
    await expect(200, target().client(at, merge({ metadata: { finalizers: null } })))
  })

  betterTogether(target, '44: lets kubectl take over its own client-side applies (5.55)', async () => {
    const name = target().fresh()
    const text = `${JSON.stringify(configMap(name, { a: '1' }))}\n`
    const annotated = configMap(name, { a: '1' }, { annotations: { [lastApplied]: text } })
    await expect(201, target().client(`${path}?fieldManager=kubectl-client-side-apply`, post(annotated)))
    const at = `${path}/${name}?fieldManager=kubectl`
    const taken = await expect(200, target().client(at, applyPatch(configMap(name, { a: '2<' }))))
    assert.equal(
      taken.metadata.annotations?.[lastApplied],
      `{"apiVersion":"v1","data":{"a":"2\\u003c"},"kind":"ConfigMap","metadata":{"name":"${name}"}}\n`,
    )
    assert.deepEqual(ownersOf(taken)['kubectl Apply'], { 'f:data': { 'f:a': own } })
  })

  it('does not own structs that are never null in Go (5.46)', async () => {
    const name = target().fresh()
    const namespace = await expect(
      201,
      target().client(
        '/api/v1/namespaces',
        post({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } }),
      ),
    )
    assert.deepEqual(entriesOf(namespace)[0]?.fieldsV1, {
      'f:metadata': { 'f:labels': { '.': own, 'f:kubernetes.io/metadata.name': own } },
    })
  })
}
