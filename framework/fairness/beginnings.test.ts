import assert from 'node:assert/strict'
import { slice, turn } from '../async/turn.ts'
import { UserShare } from './flows.ts'
import { Beginnings } from './seats.ts'

describe('requests that arrive together', () => {
  const workFor = (milliseconds: number): void => {
    const end = performance.now() + milliseconds
    while (performance.now() < end);
  }

  it('begin together while they take little time', () => {
    const beginnings = new Beginnings()
    const user = new UserShare('ada')
    for (let i = 0; i < 100; i++) assert.equal(beginnings.begin(user), undefined)
  })

  it('begin one of each user when the slice of the turn is used up', async () => {
    const beginnings = new Beginnings()
    const [attacker, victim] = [new UserShare('attacker'), new UserShare('victim')]
    assert.equal(beginnings.begin(attacker), undefined)
    workFor(slice + 1)
    const waiting = beginnings.begin(attacker)
    assert.ok(waiting)
    assert.equal(beginnings.begin(victim), undefined)
    assert.ok(beginnings.begin(victim))
    await waiting
    await turn()
    assert.equal(beginnings.begin(attacker), undefined)
  })
})
