import assert from 'node:assert/strict'
import { createInflight } from './inflight.ts'

describe('requests in flight', () => {
  const user = { name: 'alice', groups: ['system:authenticated'] }
  const master = { name: 'root', groups: ['system:masters'] }
  const info = (verb: string) => ({ isResource: false, verb, path: '/' }) as const

  it('are counted apart: those that read and those that write', () => {
    const { enter } = createInflight({ reading: 2, mutating: 1 })
    const leave = enter(user, info('get'))
    assert.ok(enter(user, info('list')))
    assert.equal(enter(user, info('get')), undefined)
    assert.ok(enter(user, info('post')))
    assert.equal(enter(user, info('delete')), undefined)
    leave?.()
    assert.ok(enter(user, info('get')))
  })

  it('of the privileged do not count', () => {
    const { enter } = createInflight({ reading: 1, mutating: 1 })
    for (let i = 0; i < 3; i++) assert.ok(enter(master, info('get')))
    assert.ok(enter(user, info('get')))
    assert.ok(enter(master, info('get')))
  })

  it('are any number when nothing limits them', () => {
    const { enter } = createInflight({ reading: 0, mutating: 0 })
    for (let i = 0; i < 1000; i++) assert.ok(enter(user, info(i % 2 ? 'get' : 'patch')))
  })
})
