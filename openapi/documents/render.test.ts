import assert from 'node:assert/strict'
import { atOnce } from '../../framework/json/json.ts'
import type { Fragments } from './fragments.ts'
import { type Format, memberOf, render } from './render.ts'
import { openApiV3 } from './v3.ts'

const info = { title: 'Oriel', version: 'v1' }
const kind = (group: string) => ({ group, version: 'v1', kind: 'Options' })

describe('the rendering of a document', () => {
  it('encodes each fragment before the next one is made', () => {
    const order: string[] = []
    const fragments: Fragments = function* (take) {
      for (const name of ['a', 'b']) {
        order.push(`make ${name}`)
        yield* take({ paths: { [`/${name}`]: {} }, schemas: { [name]: {} } })
      }
    }
    const encode = function* (name: string, value: unknown): ReturnType<Format['path']> {
      order.push(`encode ${name}`)
      return yield* memberOf(name, value)
    }
    atOnce(render(info, [fragments], { ...openApiV3, path: encode, schema: encode }))
    assert.deepEqual(order, ['make a', 'encode /a', 'encode a', 'make b', 'encode /b', 'encode b'])
  })

  it('ends when it has too many bytes, before all is made', () => {
    let made = 0
    const fragments: Fragments = function* (take) {
      for (; made < 100; made++)
        yield* take({ paths: {}, schemas: { [`s${made}`]: { description: 'x'.repeat(100) } } })
    }
    const document = () => atOnce(render(info, [fragments], openApiV3, 1_000))
    assert.throws(document, { code: 503, message: /the OpenAPI document is too large/ })
    assert.ok(made < 10, String(made))
  })

  it('has the kinds of all fragments in a model that they share, and models in the order of their names', () => {
    const fragmentOf =
      (group: string): Fragments =>
      take =>
        take({
          paths: {},
          schemas: { options: { 'x-kubernetes-group-version-kind': [kind(group)] }, [group]: {} },
        })
    const fragments = ['z', 'a', 'z'].map(fragmentOf)
    const { bytes } = atOnce(render(info, fragments, openApiV3))
    assert.equal(
      bytes.toString(),
      `{"openapi":"3.0.0","info":{"title":"Oriel","version":"v1"},"paths":{},"components":{"schemas":{${[
        '"a":{}',
        `"options":{"x-kubernetes-group-version-kind":${JSON.stringify([kind('z'), kind('a')])}}`,
        '"z":{}',
      ].join()}}}}`,
    )
  })
})
