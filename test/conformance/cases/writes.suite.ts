import assert from 'node:assert/strict'
import type { Answered, Reply, Sent } from '../../support/client.ts'
import { eventually } from '../../support/oriel.ts'
import {
  betterInViews,
  configMapsIn,
  expect,
  jsonPatch,
  merge,
  post,
  put,
  remove,
  type Target,
  widget,
  widgetsIn,
} from '../fixture.ts'
import { applyPatch } from '../owners.ts'

/** Dry runs, subresources and deletions (rules.md 3.31 to 3.38 and section 6). */
export function writeCases(target: () => Target): void {
  let ns = ''
  before(async () => {
    ns = await target().namespace()
  })
  const at = (name: string, sent?: Sent, query = ''): Promise<Reply> =>
    target().client(`${widgetsIn(ns)}/${name}${query}`, sent)
  const made = async (spec: object = {}, metadata: object = {}): Promise<Answered & { name: string }> => {
    const name = target().fresh()
    const object = await expect(201, target().client(widgetsIn(ns), post(widget(name, spec, metadata))))
    return { ...object, name }
  }
  describe('dry runs', () => dryRunCases(target, made, at))
  describe('subresources', () => subresourceCases(target, made, at))
  describe('deletions', () => deletionCases(target, () => ns, made, at))
}

type Made = (spec?: object, metadata?: object) => Promise<Answered & { name: string }>
type At = (name: string, sent?: Sent, query?: string) => Promise<Reply>

function dryRunCases(target: () => Target, made: Made, at: At): void {
  const dry = '?dryRun=All'

  it('of every verb change nothing, and return the result (3.37)', async () => {
    const { name, ...object } = await made({ color: 'red' })
    const blue = { ...object, spec: { color: 'blue', size: 1 } }
    for (const sent of [
      put(blue),
      merge({ spec: { color: 'blue' } }),
      jsonPatch([{ op: 'replace', path: '/spec/color', value: 'blue' }]),
    ]) {
      const { spec, metadata } = await expect(200, at(name, sent, dry))
      assert.deepEqual(spec, blue.spec)
      assert.equal(metadata.resourceVersion, object.metadata.resourceVersion)
    }
    await expect(200, at(name, applyPatch(widget(name, { size: 3 })), `${dry}&fieldManager=m&force=true`))
    await expect(200, at(name, remove(), dry))
    await expect(200, at(name, remove({ dryRun: ['All'] })))
    assert.deepEqual(await expect(200, at(name)), object)
  })

  it('are refused like the write (3.38)', async () => {
    const { name, metadata } = await made()
    const path = widgetsIn(metadata.namespace ?? '')
    const create = (spec: object) => target().client(`${path}${dry}`, post(widget(name, spec)))
    assert.equal((await expect(409, create({}))).reason, 'AlreadyExists')
    await expect(422, create({ size: 99 }))
    await expect(404, at('missing', merge({}), dry))
  })
}

function subresourceCases(target: () => Target, made: Made, at: At): void {
  const status = '/status'

  it('of the status are guarded like the object (3.32)', async () => {
    const { name, ...object } = await made()
    const wrong = await expect(422, at(name, merge({ status: { phase: 1 } }), status))
    assert.match(wrong.message ?? '', /status\.phase: Invalid value: "integer"/)
    await expect(200, at(name, merge({ status: { phase: 'A' } }), status))
    await expect(409, at(name, put({ ...object, status: { phase: 'B' } }), status))
    assert.deepEqual((await expect(200, at(name, undefined, status))).status, { phase: 'A' })
  })

  betterInViews(target, 'take patches of every type (5.12)', async () => {
    const { name } = await made({ replicas: 1 })
    const phase = [{ op: 'add', path: '/status', value: { phase: 'P' } }]
    assert.deepEqual((await expect(200, at(name, jsonPatch(phase), status))).status, { phase: 'P' })
    const replicas = async (sent: Sent, query = '') =>
      (await expect(200, at(name, sent, `/scale${query}`))).spec
    assert.deepEqual(await replicas(merge({ spec: { replicas: 2 } })), { replicas: 2 })
    const three = [{ op: 'replace', path: '/spec/replicas', value: 3 }]
    assert.deepEqual(await replicas(jsonPatch(three)), { replicas: 3 })
    assert.deepEqual((await expect(200, at(name))).spec, { replicas: 3, size: 1 })
  })

  betterInViews(target, 'show a scale, guarded by the version of the object (7.59)', async () => {
    const { name, metadata } = await made({ replicas: 2 })
    const scale = await expect(200, at(name, undefined, '/scale'))
    assert.deepEqual(
      [scale.kind, scale.apiVersion, scale.spec, scale.metadata.resourceVersion, scale.metadata.uid],
      ['Scale', 'autoscaling/v1', { replicas: 2 }, metadata.resourceVersion, metadata.uid],
    )
    const more = { ...scale, spec: { replicas: 5 } }
    await expect(200, at(name, put(more), '/scale'))
    assert.equal(
      (await expect(409, at(name, put({ ...more, spec: { replicas: 6 } }), '/scale'))).reason,
      'Conflict',
    )
    await expect(422, at(name, merge({ spec: { replicas: -1 } }), '/scale'))
    const { metadata: after } = await expect(200, at(name))
    assert.equal(after.generation, 2)
    const none = await made()
    const { message } = await expect(500, at(none.name, undefined, '/scale'))
    assert.equal(message, 'Internal error occurred: the spec replicas field ".spec.replicas" does not exist')
  })
}

function deletionCases(target: () => Target, ns: () => string, made: Made, at: At): void {
  it('take their options from the body, else from the query (6.1, 6.13)', async () => {
    const held = { finalizers: ['example.com/f'] }
    const finalizersAfter = async (query: string, body?: object | string) => {
      const { name } = await made({}, held)
      const { metadata } = await expect(200, at(name, { ...remove(), ...(body && { body }) }, query))
      await expect(200, at(name, merge({ metadata: { finalizers: null } })))
      return metadata.finalizers
    }
    const foreground = ['example.com/f', 'foregroundDeletion']
    assert.deepEqual(await finalizersAfter('?propagationPolicy=Foreground'), foreground)
    assert.deepEqual(await finalizersAfter('?propagationPolicy=Foreground', {}), held.finalizers)
    assert.deepEqual(await finalizersAfter('', { propagationPolicy: 'Orphan' }), ['example.com/f', 'orphan'])
    assert.deepEqual(
      await finalizersAfter('?propagationPolicy=Orphan', { propagationPolicy: 'Foreground' }),
      foreground,
    )
  })

  it('answer 202 if orphanDependents is false (6.4, 6.8)', async () => {
    const { name } = await made({}, { finalizers: ['example.com/f'] })
    const body = { orphanDependents: false, gracePeriodSeconds: -1 }
    const { metadata } = await expect(202, at(name, remove(body)))
    assert.equal(metadata.deletionGracePeriodSeconds, 0)
    const again = await expect(200, at(name, remove()))
    assert.equal(again.metadata.resourceVersion, metadata.resourceVersion)
    await expect(200, at(name, merge({ metadata: { finalizers: null } })))
  })

  it('are refused for wrong options (6.3)', async () => {
    const { name } = await made()
    const invalid = 'DeleteOptions.meta.k8s.io "" is invalid: propagationPolicy: '
    for (const [body, code, text] of [
      [
        { propagationPolicy: 'x' },
        422,
        `${invalid}Unsupported value: "x": supported values: "Foreground", "Background", "Orphan", "nil"`,
      ],
      [
        { propagationPolicy: 'Orphan', orphanDependents: true },
        422,
        `${invalid}Invalid value: "Orphan": orphanDependents and deletionPropagation cannot be both set`,
      ],
    ] as const)
      assert.equal((await expect(code, at(name, remove(body)))).message, text)
    await expect(400, at(name, { ...remove(), body: '{' }))
    await expect(415, at(name, { ...remove({}), headers: { 'content-type': 'text/plain' } }))
    await expect(200, at(name))
  })

  it('need the version that they name (6.9)', async () => {
    const { name, metadata } = await made()
    const refused = await expect(409, at(name, remove({ preconditions: { resourceVersion: '1' } })))
    assert.match(
      refused.message ?? '',
      new RegExp(
        `the ResourceVersion in the precondition \\(1\\) does not match the ResourceVersion in record \\(${metadata.resourceVersion}\\)\\. The object might have been modified$`,
      ),
    )
    const right = { resourceVersion: metadata.resourceVersion, uid: metadata.uid }
    await expect(200, at(name, remove({ preconditions: right })))
  })

  it('delete dependents, or orphan them (6.15)', async () => {
    const { client } = target()
    const path = configMapsIn(ns())
    const map = (name: string, metadata: object = {}) => ({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name, ...metadata },
    })
    for (const [policy, stays] of [
      ['Background', false],
      ['Orphan', true],
    ] as const) {
      const [owner, dependent] = [target().fresh(), target().fresh()]
      const { metadata } = await expect(201, client(path, post(map(owner))))
      const reference = { apiVersion: 'v1', kind: 'ConfigMap', name: owner, uid: metadata.uid }
      await expect(201, client(path, post(map(dependent, { ownerReferences: [reference] }))))
      await expect(200, client(`${path}/${owner}`, remove({ propagationPolicy: policy })))
      const read = () => client(`${path}/${dependent}`)
      await eventually(read, ({ status, json }) =>
        stays ? json().metadata?.ownerReferences === undefined : status === 404,
      )
      assert.equal((await read()).status, stays ? 200 : 404, policy)
    }
  })
}
