import assert from 'node:assert/strict'
import { setImmediate as turn } from 'node:timers/promises'
import type { UserInfo } from '../request/user.ts'
import { userOf } from './access.ts'
import type { Exchange } from './serve.ts'

const ann: UserInfo = { name: 'ann', groups: [] }

describe('authentication that takes a while', () => {
  it('is followed by work of its request, and not of the request before', async () => {
    let works = 0
    const measured = { works: () => void works++ }
    const exchange = { incoming: { credentials: {} }, measured } as unknown as Exchange
    const place = { path: '/' }
    assert.equal(await userOf({ authenticate: () => ann }, exchange, place), ann)
    assert.equal(works, 0)
    const later = { authenticate: () => turn().then(() => ann) }
    assert.equal(await userOf(later, exchange, place), ann)
    assert.equal(works, 1)
  })
})
