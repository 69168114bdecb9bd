import assert from 'node:assert/strict'
import fc from 'fast-check'
import { StatusError } from '../meta/errors.ts'
import { encodeValue } from './documentanswer.ts'
import { type Endpoint, type InProtobuf, type Negotiated, negotiate, negotiateError } from './negotiation.ts'

const asked = (accept: string, query = '', userAgent = '') => ({
  query: new URLSearchParams(query),
  headers: { accept, 'user-agent': userAgent },
})
const chosen = (accept: string, endpoint: Endpoint = 'objects', inProtobuf?: InProtobuf): string => {
  try {
    const { format, transform } = negotiate(asked(accept), endpoint, inProtobuf)
    return transform === undefined ? format : `${format} ${transform.kind} ${transform.version}`
  } catch (error) {
    assert.ok(error instanceof StatusError)
    return String(error.code)
  }
}

const meta = (kind: string, version = 'v1'): string =>
  `application/json;as=${kind};g=meta.k8s.io;v=${version}`

describe('negotiate', () => {
  const cases: readonly [accept: string, endpoint: Endpoint, chosen: string][] = [
    ['', 'objects', 'json'],
    ['*/*', 'objects', 'json'],
    ['application/*', 'objects', 'json'],
    ['application/json; charset=utf-8', 'objects', 'json'],
    ['Application/JSON', 'objects', 'json'],
    ['application/yaml', 'objects', 'yaml'],
    ['application/yaml;q=0.5, application/json;q=0.9', 'objects', 'json'],
    ['application/yaml;q=0.5, application/json;q=0.5', 'objects', 'yaml'],
    ['application/json;q=0', 'objects', '406'],
    ['application/xml', 'objects', '406'],
    ['application/vnd.kubernetes.protobuf', 'objects', '406'],
    ['application/vnd.kubernetes.protobuf, */*', 'objects', 'json'],
    [meta('Table'), 'objects', 'json Table v1'],
    [meta('Table', 'v1beta1'), 'objects', 'json Table v1beta1'],
    [`${meta('Table', 'v2')},${meta('Table', 'v1beta1')}`, 'objects', 'json Table v1beta1'],
    [`${meta('Other')},application/json`, 'objects', 'json'],
    ['application/json;as=Table;g=other;v=v1', 'objects', '406'],
    [meta('Table'), 'documents', '406'],
    [`${meta('Table')},application/json`, 'documents', 'json'],
    ['application/yaml', 'watch', '406'],
    ['application/json;stream=watch', 'watch', 'json'],
    ['application/json;stream=other', 'watch', '406'],
    [meta('PartialObjectMetadata'), 'watch', 'json PartialObjectMetadata v1'],
  ]
  for (const [accept, endpoint, expected] of cases) {
    it(`${accept || 'nothing'} on ${endpoint}: ${expected}`, () =>
      assert.equal(chosen(accept, endpoint), expected))
  }

  const protobuf = 'application/vnd.kubernetes.protobuf'
  const binary: readonly [accept: string, inProtobuf: InProtobuf, chosen: string][] = [
    [protobuf, 'objects', 'protobuf'],
    [`${protobuf},application/json`, 'objects', 'protobuf'],
    [`${protobuf};q=0.5,application/json`, 'objects', 'json'],
    [`${protobuf};q=0,application/yaml`, 'objects', 'yaml'],
    [`${protobuf},application/json`, 'metadata', 'json'],
    [protobuf, 'metadata', '406'],
    [
      `${protobuf};as=PartialObjectMetadata;g=meta.k8s.io;v=v1`,
      'metadata',
      'protobuf PartialObjectMetadata v1',
    ],
    [`${protobuf};as=PartialObjectMetadata;g=meta.k8s.io;v=v1`, 'nothing', '406'],
    [`${protobuf};as=Table;g=meta.k8s.io;v=v1,${meta('Table')}`, 'objects', 'json Table v1'],
  ]
  for (const [accept, inProtobuf, expected] of binary) {
    it(`${accept}, where protobuf is there for ${inProtobuf}: ${expected}`, () =>
      assert.equal(chosen(accept, 'objects', inProtobuf), expected))
  }

  it('writes errors in protobuf where that is asked', () => {
    assert.equal(negotiateError(asked(protobuf)).format, 'protobuf')
  })

  it('never answers an error with an error', () => {
    fc.assert(
      fc.property(fc.string(), accept =>
        assert.match(negotiateError(asked(accept)).format, /json|yaml|protobuf/),
      ),
    )
    assert.deepEqual(negotiateError(asked('application/xml')), { format: 'json', pretty: true })
  })

  it('indents for browsers and curl by default', () => {
    const pretty = (query: string, userAgent: string): boolean =>
      negotiate(asked('', query, userAgent), 'objects').pretty
    assert.equal(pretty('', 'curl/8'), true)
    assert.equal(pretty('', 'Mozilla/5.0 (X11)'), true)
    assert.equal(pretty('', 'kubectl/v1.30'), false)
    assert.equal(pretty('pretty=1', 'kubectl/v1.30'), true)
    assert.equal(pretty('pretty=0', 'curl/8'), false)
    assert.equal(pretty('pretty=', 'curl/8'), true)
  })
})

describe('encodeValue', () => {
  const value = { b: 'yes', a: [1, { c: null }] }
  const text = (how: Negotiated): string => encodeValue(value, how).toString()

  it('ends with a line end in every format', () => {
    assert.equal(text({ format: 'json', pretty: false }), '{"b":"yes","a":[1,{"c":null}]}\n')
    assert.match(text({ format: 'json', pretty: true }), /^\{\n {2}"b": "yes",\n[\s\S]*\}\n$/)
    assert.equal(text({ format: 'yaml', pretty: false }), 'a:\n- 1\n- c: null\nb: "yes"\n')
  })
})
