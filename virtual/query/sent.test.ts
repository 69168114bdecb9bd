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

  it('of service accounts are not counted for those of the same name in other logical clusters', () => {
    const robot = (home: string) => ({
      name: 'system:serviceaccount:default:robot',
      groups: [],
      extra: { 'authentication.kcp.io/cluster-name': [home] },
    })
    const counts = new SentCounts()
    counts.add(robot('one'), 400_000)
    counts.add(robot('two'), 400_000)
    assert.throws(() => counts.add(robot('two'), 200_000), /follow at most/)
  })
})
