import assert from 'node:assert/strict'
import { filled, fresh, refusal, refuses, specOf } from '../../test/support/asked.ts'
import { type Asked, ask, jsonOf, widget } from '../../test/support/widgets.ts'
import { atOnce } from '../json/json.ts'
import type { KubeObject } from '../meta/object.ts'
import { checkMembers } from '../wire/limits.ts'

describe('patch', () => {
  const merge = { 'content-type': 'application/merge-patch+json' }
  const json = { 'content-type': 'application/json-patch+json; charset=utf-8' }
  const patch = (asked: Partial<Asked>): Asked => ({ verb: 'patch', name: 'a', headers: merge, ...asked })

  it('merges', async () => {
    const resource = await filled('a')
    const spec = await specOf(ask(resource, patch({ body: { spec: { color: null, size: 1 } } })))
    assert.deepEqual(spec, { size: 1 })
  })

  it('refuses more members of one object than it may have, and changes an object that has them already', async () => {
    const resource = await filled('a')
    const members = (letter: string, count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, i) => [`${letter}${i}`, 0]))
    await ask(resource, patch({ body: { spec: members('a', 40_000) } }))
    const body = { spec: members('b', 40_000) }
    await refuses(resource, patch({ body }), 413, /limit of one object is 50000 members: spec$/)
    const labels = { metadata: { labels: { changed: 'true' } } }
    assert.equal((await ask(resource, patch({ body: labels }))).status, 200)
    const live = { spec: { ...members('a', 40_000), ...members('b', 40_000) } }
    assert.doesNotThrow(() => atOnce(checkMembers(live, live)))
    assert.throws(() => atOnce(checkMembers(live, { spec: members('a', 60_000) })), { code: 413 })
  })

  it('refuses more labels, annotations, finalizers or owners than a new object may have', async () => {
    const resource = await filled('a')
    const texts = Array.from({ length: 10_001 }, (_, i) => `example.com/k${i}`)
    const map = Object.fromEntries(texts.map(key => [key, '']))
    for (const [field, value] of Object.entries({ labels: map, annotations: map, finalizers: texts })) {
      const body = { metadata: { [field]: value } }
      await refuses(resource, patch({ body }), 413, RegExp(`limit is 10000 ${field}: metadata.${field}$`))
    }
    const ownerReferences = texts
      .slice(0, 1_001)
      .map(uid => ({ apiVersion: 'v1', kind: 'ConfigMap', name: 'a', uid }))
    const limit = /limit is 1000 ownerReferences: metadata.ownerReferences$/
    await refuses(resource, patch({ body: { metadata: { ownerReferences } } }), 413, limit)
  })

  it('applies JSON patches', async () => {
    const resource = await filled('a')
    const body = [
      { op: 'test', path: '/spec/color', value: 'red' },
      { op: 'replace', path: '/spec/color', value: 'blue' },
    ]
    assert.deepEqual(await specOf(ask(resource, patch({ headers: json, body }))), { color: 'blue' })
    const failed = await refusal(resource, patch({ headers: json, body }))
    assert.deepEqual(
      [failed.code, failed.reason, failed.message],
      [422, 'Invalid', 'the server rejected our request due to an error in our request'],
    )
  })

  it('never conflicts without a version, and locks with one', async () => {
    const resource = await filled('a')
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, i) => ask(resource, patch({ body: { spec: { [`k${i}`]: i } } }))),
    )
    assert.ok(answers.every(answer => answer.status === 200))
    assert.equal(Object.keys((await specOf(ask(resource, { verb: 'get', name: 'a' }))) as object).length, 21)
    const body = { metadata: { resourceVersion: '1' }, spec: {} }
    await refuses(resource, patch({ body }), 409, /the object has been modified/)
  })

  it('warns about unknown fields and writes nothing, or refuses', async () => {
    const resource = await filled('a')
    const version = async (): Promise<unknown> =>
      (await jsonOf(ask(resource, { verb: 'get', name: 'a' }))).metadata
    const before = await version()
    const body = { spec: { unknown: 1 } }
    assert.deepEqual((await ask(resource, patch({ body }))).warnings, ['unknown field "spec.unknown"'])
    assert.deepEqual(await version(), before)
    await refuses(
      resource,
      patch({ body, query: 'fieldValidation=Strict' }),
      422,
      /^ "" is invalid: patch: Invalid value: ".*": strict decoding error: unknown field "spec.unknown"$/,
    )
  })

  it('requires the version of a built-in kind', async () => {
    const resource = fresh({ custom: false })
    await ask(resource, { verb: 'create', body: widget('a') })
    const message = 'the name of the object (a based on URL) was undeterminable: name must be provided'
    await refuses(resource, patch({ body: { apiVersion: null } }), 400, message)
    await refuses(
      resource,
      patch({ body: { apiVersion: 'v9' } }),
      422,
      /: no kind "Widget" is registered for version "v9" in scheme "oriel"$/,
    )
  })

  it('does not change types when it is strategic', async () => {
    const resource = fresh({ custom: false })
    await ask(resource, { verb: 'create', body: widget('a') })
    const headers = { 'content-type': 'application/strategic-merge-patch+json' }
    const body = { apiVersion: 'v9', kind: 'Gadget', metadata: { labels: { a: 'b' } } }
    const { kind, metadata } = await jsonOf(ask(resource, patch({ headers, body })))
    assert.deepEqual([kind, (metadata as KubeObject['metadata']).labels], ['Widget', { a: 'b' }])
    assert.equal((await ask(resource, patch({ headers, body: 'null' }))).status, 200)
  })

  it('merges lists by the first of their keys when it is strategic, also of custom resources that take it', async () => {
    const ports = { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['port', 'protocol'] }
    const set = { type: 'array', 'x-kubernetes-list-type': 'set' }
    const spec = { type: 'object', properties: { ports: { type: 'array', ...ports }, tags: set } }
    const openapi = { type: 'object', properties: { spec } }
    const resource = fresh({ custom: true, strategicMergePatch: true, openapi })
    const before = { ports: [{ port: 80, name: 'a' }, { port: 443 }], tags: ['a'], rest: [1] }
    await ask(resource, { verb: 'create', body: { ...widget('a'), spec: before } })
    const headers = { 'content-type': 'application/strategic-merge-patch+json' }
    const body = { spec: { ports: [{ port: 80, name: 'b' }, { port: 81 }], tags: ['b'], rest: [2] } }
    assert.deepEqual(await specOf(ask(resource, patch({ headers, body }))), {
      ports: [{ port: 80, name: 'b' }, { port: 81 }, { port: 443 }],
      tags: ['b', 'a'],
      rest: [2],
    })
  })

  const bad: readonly [name: string, asked: Partial<Asked>, code: number, message: string | RegExp][] = [
    [
      'strategic merge patches',
      { headers: { 'content-type': 'application/strategic-merge-patch+json' } },
      415,
      'the body of the request was in an unknown format - accepted media types include: application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml',
    ],
    [
      'another name',
      { body: { metadata: { name: 'b' } } },
      400,
      /^the name of the object \(b\) does not match/,
    ],
    [
      'another namespace',
      { body: { metadata: { namespace: 'b' } } },
      400,
      /^the namespace of the provided object/,
    ],
    ['wrong types', { body: { metadata: { labels: 1 } } }, 422, /^ "" is invalid: patch: Invalid value: /],
    ...[null, '', '0'].map((resourceVersion): [string, Partial<Asked>, number, string] => [
      `the version ${JSON.stringify(resourceVersion)}`,
      { body: { metadata: { resourceVersion } } },
      422,
      'widgets.example.com "a" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update',
    ]),
    [
      'another kind and version',
      { body: { apiVersion: 'other.dev/v2', kind: 'Gadget' } },
      422,
      'Gadget.other.dev "a" is invalid: [kind: Invalid value: "Gadget": must be Widget, apiVersion: Invalid value: "other.dev/v2": must be example.com/v1]',
    ],
    [
      'an invalid version',
      { body: { apiVersion: 'a/b/c' } },
      422,
      /^ "" is invalid: patch: Invalid value: ".*": unexpected GroupVersion string: a\/b\/c$/,
    ],
    [
      'a kind that is not a string',
      { body: { kind: 5 } },
      422,
      /^ "" is invalid: patch: .*: couldn't get version\/kind; json parse error: json: cannot unmarshal number into /,
    ],
    ['null', { body: 'null' }, 400, 'Invalid JSON Patch'],
    [
      'the end of the kind',
      { body: { kind: null } },
      422,
      /^ "" is invalid: patch: Invalid value: ".*": Object 'Kind' is missing in '{.*}'$/,
    ],
    ['missing objects', { name: 'x', body: {} }, 404, 'widgets.example.com "x" not found'],
    ['broken JSON', { body: '{' }, 400, /json parse error/],
    [
      'force',
      { body: {}, query: 'force=true' },
      422,
      /force: Forbidden: may not be specified for non-apply patch$/,
    ],
    [
      'deep results',
      {
        headers: json,
        body: Array.from({ length: 300 }, (_, i) => ({
          op: 'add',
          path: `/spec${'/a'.repeat(i + 1)}`,
          value: {},
        })),
      },
      422,
      /exceeded max depth/,
    ],
  ]
  for (const [name, asked, code, message] of bad) {
    it(`refuses ${name}`, async () => refuses(await filled('a'), patch(asked), code, message))
  }
})
