import assert from 'node:assert/strict'
import { Histories } from '../../framework/cache/histories.ts'
import { silent } from '../../framework/contract/log.ts'
import { afterSettingBack } from '../../test/support/time/clocks.ts'
import type { Source } from '../reading/source.ts'
import { ManagedCopy } from './managedcopy.ts'

describe('a copy of a resource', () => {
  let asked: number
  let copy: ManagedCopy
  beforeEach(() => {
    asked = 0
    const source = {
      ref: { group: '', version: 'v1', resource: 'configmaps' },
      ask: async () => {
        asked++
        throw new Error('the shard does not answer')
      },
    } as unknown as Source
    const histories = new Histories()
    const selection = { cluster: '*' }
    copy = new ManagedCopy({ source, selection, histories, room: () => 1_000, log: silent })
  })
  afterEach(() => copy.close())

  it('that failed is filled again after a pause, also when the clock was set back', async () => {
    await copy.filled()
    assert.equal(asked, 1)
    await afterSettingBack(30_000, () => copy.filled())
    assert.equal(asked, 2)
  })

  it('counts the time since its last use, also when the clock was set back', async () => {
    void copy.copy
    assert.ok((await afterSettingBack(30_000, () => copy.idle)) >= 30_000)
  })
})
