import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { silent } from '../../framework/contract/log.ts'
import { follow } from './follow.ts'

describe('files that are read again', () => {
  it('are as many as a server has flags, without a warning of Node about the listeners of its signal', () => {
    const stopping = new AbortController()
    const { signal } = stopping
    const read = async () => 'content'
    for (let i = 0; i < 20; i++)
      follow({ what: 'file', current: 'content', read, use: () => undefined, log: silent, signal })
    assert.ok(getEventListeners(signal, 'abort').length <= 10)
    stopping.abort()
  })
})
