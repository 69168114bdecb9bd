import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../../test/support/source.ts'
import { oldestNode, refusalOf } from './noderelease.ts'

describe('the oldest release of Node', () => {
  it('is the one that package.json names', () => {
    const { engines } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
    assert.equal(engines.node, `>=${oldestNode}`)
  })

  it('refuses older ones in a sentence, and no others', () => {
    assert.equal(refusalOf('18.20.8'), 'oriel: Node.js 20.19 or newer is needed, and this is 18.20.8.')
    assert.match(refusalOf('20.2.0') ?? '', /20\.2\.0/)
    for (const release of ['20.19.0', '22.1.0', '100.0.0']) assert.equal(refusalOf(release), undefined)
  })
})
