import assert from 'node:assert/strict'
import { fresh, refuses } from '../../test/support/asked.ts'
import { ask } from '../../test/support/widgets.ts'

const head = '"apiVersion":"example.com/v1","kind":"Widget"'

/** Each in the order in which real kcp tells of it. */
describe('what a strict reader complains about', () => {
  const told = async (
    body: string,
    { custom, type = 'json' }: { custom: boolean; type?: 'json' | 'yaml' },
  ) => {
    const headers = { 'content-type': `application/${type}` }
    return (await ask(fresh({ custom }), { verb: 'create', body, headers })).warnings
  }

  it('comes in three parts for custom kinds: repeated, of metadata, of the rest', async () => {
    const body = `{"zeta":1,${head},"spec":{"a":1,"unknown":1,"a":2},"metadata":{"zz":1,"name":"a","aa":1}}`
    assert.deepEqual(await told(body, { custom: true }), [
      'duplicate field "spec.a"',
      'unknown field "metadata.aa"',
      'unknown field "metadata.zz"',
      'unknown field "zeta"',
      'unknown field "spec.unknown"',
    ])
  })

  it('comes in the order of the document for built-in kinds, without what is in the unknown', async () => {
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

  it('comes by sort for built-in kinds in YAML, after all lines', async () => {
    const body = 'zeta: 1\nmetadata: {name: a, zz: 1}\nspec:\n  1: x\n  1: y\n  "1": z\nalpha: 1\nalpha: 2\n'
    assert.deepEqual(await told(body, { custom: false, type: 'yaml' }), [
      'line 5: key 1 already set in map',
      'line 8: key "alpha" already set in map',
      'unknown field "alpha"',
      'unknown field "metadata.zz"',
      'unknown field "zeta"',
    ])
  })

  it('is told once, and of a hundred', async () => {
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

  it('is told in time of what is many times deep in long names', async () => {
    const members = Array.from({ length: 100_000 }, (_, i) => `"${i}":0`).join(',')
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
