import assert from 'node:assert/strict'
import { atOnce } from '../../framework/json/json.ts'
import { wireFields } from '../../framework/wire/protobuf/wire.ts'
import { gnosticDefinition, gnosticDocument, gnosticPath } from './gnostic.ts'

/** The contents of one field of a message, in order. */
const contents = (message: Buffer, number: number): readonly Buffer[] =>
  [...wireFields(message)].flatMap(field =>
    field.number === number && Buffer.isBuffer(field.value) ? [field.value] : [],
  )
const content = (message: Buffer, ...numbers: readonly number[]): Buffer =>
  numbers.reduce((inner, number) => contents(inner, number)[0] ?? Buffer.alloc(0), message)
const texts = (message: Buffer, number: number): readonly string[] => contents(message, number).map(String)

describe('Swagger as protobuf', () => {
  const swagger = {
    info: { title: 'Oriel', version: 'v1' },
    paths: {
      '/api/v1/widgets': {
        patch: {
          operationId: 'patchWidget',
          consumes: ['application/merge-patch+json'],
          parameters: [
            { name: 'body', in: 'body', required: true, schema: { $ref: '#/definitions/Patch' } },
            { name: 'fieldValidation', in: 'query', type: 'string', uniqueItems: true },
          ],
          responses: { '200': { description: 'OK', schema: { $ref: '#/definitions/Widget' } } },
          'x-kubernetes-action': 'patch',
        },
      },
    },
    definitions: {
      Widget: {
        type: 'object',
        required: ['spec'],
        properties: { spec: { type: 'object', additionalProperties: { type: 'string', maxLength: 300 } } },
        'x-kubernetes-group-version-kind': [{ group: '', version: 'v1', kind: 'Widget' }],
      },
    },
  }
  const encoded = (of: object, encode: typeof gnosticPath): Buffer[] =>
    Object.entries(of).map(([name, value]) => atOnce(encode(name, value)))
  const { info, paths, definitions } = swagger
  const document = Buffer.concat(
    gnosticDocument(info, encoded(paths, gnosticPath), encoded(definitions, gnosticDefinition)),
  )
  const patch = content(document, 8, 2, 2, 8)
  const widget = content(document, 9, 1, 2)

  it('begins with the version and the info', () => {
    assert.equal(String(content(document, 1)), '2.0')
    assert.deepEqual([texts(content(document, 2), 1), texts(content(document, 2), 2)], [['Oriel'], ['v1']])
  })

  it('names paths and their operations', () => {
    assert.equal(String(content(document, 8, 2, 1)), '/api/v1/widgets')
    assert.equal(String(content(patch, 4 + 1)), 'patchWidget')
    assert.equal(String(content(patch, 13, 1)), 'x-kubernetes-action')
    assert.equal(String(content(patch, 13, 2, 2)), '"patch"\n')
  })

  it('distinguishes body parameters from others', () => {
    const [body, query] = contents(patch, 8)
    assert.equal(String(content(body ?? patch, 1, 1, 5, 1)), '#/definitions/Patch')
    assert.equal(String(content(query ?? patch, 1, 2, 3, 4)), 'fieldValidation')
  })

  it('answers with schemas by code', () => {
    assert.equal(String(content(patch, 9, 1, 1)), '200')
    assert.equal(String(content(patch, 9, 1, 2, 1, 2, 1, 1)), '#/definitions/Widget')
  })

  it('describes schemas', () => {
    assert.equal(String(content(document, 9, 1, 1)), 'Widget')
    assert.deepEqual(texts(widget, 19), ['spec'])
    assert.equal(String(content(widget, 22, 1)), 'object')
    const values = content(widget, 25, 1, 2, 21, 1)
    const length = [...wireFields(values)].find(field => field.number === 11)?.value
    assert.equal(length, 300n)
  })
})
