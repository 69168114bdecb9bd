import assert from 'node:assert/strict'
import { warnOfShards } from './check.ts'
import { QueryQuestion } from './question.ts'

describe('the warning of a query that other shards are not in the answer', () => {
  const warnings = (cluster: string, options: Readonly<Record<string, string>>, otherShards?: object) => {
    const found: string[] = []
    const record = { warn: (text: string) => found.push(text) }
    const question = new QueryQuestion({ cluster, options }, {} as never, { name: 'ada', groups: [] })
    warnOfShards({ otherShards } as never, { cluster, record } as never, question)
    return found.length
  }

  it('is there for all logical clusters of one of several shards', () => {
    assert.equal(warnings('*', {}, {}), 1)
    assert.equal(warnings('*', { part: 'false' }, {}), 1)
  })

  it('is not there for one logical cluster, one shard, and the part of a front proxy', () => {
    assert.equal(warnings('one', {}, {}), 0)
    assert.equal(warnings('*', {}), 0)
    assert.equal(warnings('*', { part: 'true' }, {}), 0)
  })
})
