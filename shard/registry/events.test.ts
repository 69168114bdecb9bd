import assert from 'node:assert/strict'
import { fieldErrorText } from '../../framework/meta/errors.ts'
import { eventErrors } from './events.ts'

const errorsOf = (namespace: string, fields: object): readonly string[] =>
  eventErrors({ apiVersion: 'v1', kind: 'Event', metadata: { name: 'e', namespace }, ...fields }).map(
    fieldErrorText,
  )

describe('rules of events', () => {
  const elsewhere = (namespace: string): readonly string[] => [
    `involvedObject.namespace: Invalid value: "${namespace}": does not match event.namespace`,
  ]

  it('want the namespace of the object that the event is about', () => {
    assert.deepEqual(errorsOf('a', { involvedObject: { namespace: 'a' } }), [])
    assert.deepEqual(errorsOf('a', { involvedObject: { namespace: 'b' } }), elsewhere('b'))
    assert.deepEqual(errorsOf('a', { involvedObject: {}, eventTime: null }), elsewhere(''))
    assert.deepEqual(errorsOf('kube-system', { involvedObject: {} }), elsewhere(''))
    assert.deepEqual(errorsOf('default', {}), [])
  })

  it('want a reporter, an action and a reason of events with a time', () => {
    const eventTime = '2026-01-01T00:00:00.000000Z'
    const texts = { reportingComponent: 'a.b/c', reportingInstance: 'i', action: 'Act', reason: 'Why' }
    assert.deepEqual(errorsOf('kube-system', { eventTime, ...texts }), [])
    assert.deepEqual(errorsOf('a', { eventTime, ...texts, involvedObject: { namespace: 'b' } }), [])
    assert.deepEqual(errorsOf('a', { eventTime, ...texts }), elsewhere(''))
    const long = { action: 'x'.repeat(129), message: 'x'.repeat(1025), reportingInstance: '' }
    assert.deepEqual(errorsOf('default', { eventTime, ...texts, ...long }), [
      'reportingInstance: Required value',
      'action: Invalid value: "": can have at most 128 characters',
      'message: Invalid value: "": can have at most 1024 characters',
    ])
  })
})
