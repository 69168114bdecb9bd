import assert from 'node:assert/strict'
import { fresh, refuses } from '../../test/support/asked.ts'
import { ask } from '../../test/support/widgets.ts'

const head = '"apiVersion":"example.com/v1","kind":"Widget"'

/** In the order in which kcp reports them. */
describe('errors of strict field validation', () => {
  const told = async (
    body: string,
    { custom, type = 'json' }: { custom: boolean; type?: 'json' | 'yaml' },
  ) => {
    const headers = { 'content-type': `application/${type}` }
    return (await ask(fresh({ custom }), { verb: 'create', body, headers })).warnings
  }

  it('are in three parts for custom kinds: duplicate fields, metadata, other fields', async () => {
    const body = `{"zeta":1,${head},"spec":{"a":1,"unknown":1,"a":2},"metadata":{"zz":1,"name":"a","aa":1}}`
    assert.deepEqual(await told(body, { custom: true }), [
      'duplicate field "spec.a"',
      'unknown field "metadata.aa"',
      'unknown field "metadata.zz"',
      'unknown field "zeta"',
      'unknown field "spec.unknown"',
    ])
  })

  it('are in the order of the document for built-in kinds, without fields of unknown objects', async () => {
    const owner = '{"apiVersion":"v1","kind":"X","name":"x","zz":1,"uid":"u","aa":1,"name":"y"}'
    const body = `{"zeta":{"a":1,"a":2},${head},"metadata":{"zz":1,"name":"a","ownerReferences":[${owner}]},"alpha":1,"spec":{"b":1,"b":2},"zeta":2,"spec":{"b":1,"b":2}}`
    assert.deepEqual(await told(body, { custom: false }), [
      'unknown field "zeta"',
      'unknown field "metadata.zz"',
      'unknown field "metadata.ownerReferences[0].zz"',
      'unknown field "metadata.ownerReferences[0].aa"',
      'duplicate field "metadata.ownerReferences[0].name"',
      'unknown field "alpha"',
      'duplicate field "spec.b"',
      'duplicate field "spec"',
    ])
  })

  it('are sorted for built-in kinds in YAML, after the line errors', async () => {
    const body = 'zeta: 1\nmetadata: {name: a, zz: 1}\nspec:\n  1: x\n  1: y\n  "1": z\nalpha: 1\nalpha: 2\n'
    assert.deepEqual(await told(body, { custom: false, type: 'yaml' }), [
      'line 5: key 1 already set in map',
      'line 8: key "alpha" already set in map',
      'unknown field "alpha"',
      'unknown field "metadata.zz"',
      'unknown field "zeta"',
    ])
  })

  it('are reported once, and at most a hundred', async () => {
    const thrice = `{${head},"metadata":{"name":"a"},"spec":{"a":1,"a":2,"a":3}}`
    const asked = { verb: 'create', query: 'fieldValidation=Strict' } as const
    await refuses(fresh(), { ...asked, body: thrice }, 400, /error: duplicate field "spec.a"$/)
    const many = Array.from({ length: 120 }, (_, i) => `"u${i}":1`).join(',')
    const body = `{${head},"metadata":{"name":"a"},${many}}`
    await refuses(
      fresh({ custom: false }),
      { ...asked, body },
      400,
      /unknown field "u98", unknown field "u99"$/,
    )
  })

  it('are computed quickly for long deep paths', async () => {
    const members = Array.from({ length: 40_000 }, (_, i) => `"${i}":0`).join(',')
    const fields = `{"${'k'.repeat(1_000_000)}":{${members}}}`
    const metadata = `{"name":"a","managedFields":[{"fieldsV1":${fields}}]}`
    const body = `{${head},"metadata":${metadata},"zeta":1,"alpha":1}`
    const problems = await told(body, { custom: false })
    assert.deepEqual(problems, ['unknown field "alpha"', 'unknown field "zeta"'])
  })

  it('is one error for all lines of YAML', async () => {
    const headers = { 'content-type': 'application/yaml' }
    const body =
      'apiVersion: example.com/v1\nkind: Widget\nmetadata:\n  name: a\nspec:\n  a: 1\n  a: 2\n  a: 3\n'
    const asked = { verb: 'create', query: 'fieldValidation=Strict', headers, body } as const
    await refuses(
      fresh(),
      asked,
      400,
      'Widget in version "v1" cannot be handled as a Widget: strict decoding error: yaml: unmarshal errors:\n  line 7: key "a" already set in map\n  line 8: key "a" already set in map',
    )
  })
})
