import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { onAbort } from './fanout.ts'

describe('onAbort', () => {
  it('calls every handler once, through one listener', () => {
    const controller = new AbortController()
    const called: number[] = []
    for (let i = 0; i < 100; i++) onAbort(controller.signal, () => void called.push(i))
    assert.equal(getEventListeners(controller.signal, 'abort').length, 1)
    controller.abort()
    assert.deepEqual(called, [...Array(100).keys()])
  })

  it('removes exactly the given handlers', () => {
    const controller = new AbortController()
    const called: string[] = []
    const handler = (): void => void called.push('same')
    const remove = onAbort(controller.signal, handler)
    onAbort(controller.signal, handler)
    remove()
    remove()
    controller.abort()
    assert.deepEqual(called, ['same'])
  })

  it('calls at once when the signal has aborted', () => {
    let called = 0
    onAbort(AbortSignal.abort(), () => void called++)
    assert.equal(called, 1)
  })
})
