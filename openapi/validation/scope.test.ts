import assert from 'node:assert/strict'
import type { KubeObject } from '../../framework/meta/object.ts'
import { compileSchema } from '../compile.ts'

describe('the scope of a validation', () => {
  const names = { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' } as const
  const part = { type: 'object', properties: { size: { type: 'integer' }, names } } as const
  const { validate } = compileSchema({ type: 'object', properties: { spec: part, status: part } })
  const object = (spec: object, status?: object): KubeObject =>
    ({ apiVersion: 'v1', kind: 'K', metadata: {}, spec, ...(status && { status }) }) as KubeObject
  const said = (...args: Parameters<typeof validate>): readonly string[] =>
    validate(...args).map(({ field, detail }) => `${field}: ${detail}`)

  it('is the whole object, or the status, with paths that begin below it', () => {
    const wrong = object({ size: 'x' }, { size: 'y' })
    const text = 'in body must be of type integer: "string"'
    assert.deepEqual(said(wrong), [`spec.size: spec.size ${text}`, `status.size: status.size ${text}`])
    assert.deepEqual(said(wrong, undefined, { onlyStatus: true }), [`status.size: size ${text}`])
    assert.deepEqual(said(wrong, object({}, { size: 'y' }), { onlyStatus: true }), [])
    assert.deepEqual(said(object({ size: 'x' }), undefined, { onlyStatus: true }), [])
  })

  it('does not check duplicate items', () => {
    const repeated = object({ names: ['a', 'a'] })
    assert.deepEqual(said(repeated), ['spec.names[1]: '])
    assert.deepEqual(said(repeated, undefined, { onlyStatus: true }), ['spec.names[1]: '])
    assert.deepEqual(said(repeated, undefined, { mayRepeat: true }), [])
  })
})
