import assert from 'node:assert/strict'
import { SentCounts } from './sent.ts'

const ada = { name: 'ada', groups: [] }

describe('the objects that watches of queries have sent', () => {
  it('are limited for all watches of a user together', () => {
    const counts = new SentCounts()
    counts.add(ada, 300_000)
    assert.throws(() => counts.add(ada, 300_000), /follow at most 500000 objects together/)
    counts.add({ name: 'bob', groups: [] }, 300_000)
    counts.add(ada, -300_000)
    counts.add(ada, 400_000)
    assert.throws(() => counts.check(ada, 500_001), /close some/)
  })
})
