import assert from 'node:assert/strict'
import { createLifetime } from '../async/lifetime.ts'
import { Flows } from './flows.ts'
import { type Rejection, SeatQueue } from './queue.ts'

describe('the queue of requests that wait for a seat', () => {
  const flow = new Flows().add('eve', '/a')
  const outcomes: (Rejection | 'seated')[] = []
  let free = 0
  let questions = 0
  let queue: SeatQueue

  beforeEach(() => {
    outcomes.length = free = questions = 0
    queue = new SeatQueue(() => {
      questions++
      return free > 0
    })
  })

  const wait = (lifetime = createLifetime()): void =>
    queue.wait({ flow, isSystem: false, lifetime }, undefined, rejection => {
      if (rejection === undefined) free--
      outcomes.push(rejection ?? 'seated')
    })

  it('asks once for all requests of a flow whether there is a seat', () => {
    for (let i = 0; i < 1_000; i++) wait()
    queue.advance()
    assert.equal(questions, 1)
    free = 2
    queue.advance()
    assert.equal(questions, 4)
    assert.deepEqual(outcomes, ['seated', 'seated'])
  })

  it('gives no seat to a request whose client has gone', async () => {
    const lifetime = createLifetime()
    wait(lifetime)
    wait()
    lifetime.end('client gone')
    free = 1
    queue.advance()
    assert.deepEqual(outcomes, ['cancelled', 'seated'])
  })
})
