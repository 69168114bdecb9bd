import assert from 'node:assert/strict'
import { Debts } from './debts.ts'

describe('debts', () => {
  let now = 0
  const newDebts = () => new Debts({ perSecond: 10, burst: 100, now: () => now })
  beforeEach(() => {
    now = 0
  })

  it('are paid by time, for each debtor alone', () => {
    const debts = newDebts()
    debts.charge('ada', 120)
    assert.equal(debts.wait('ada'), 2_000)
    assert.equal(debts.wait('bob'), 0)
    now = 1_500
    assert.equal(debts.wait('ada'), 500)
    now = 60_000
    debts.charge('ada', 100)
    assert.equal(debts.wait('ada'), 0)
  })

  it('are not forgotten among many debtors before they are paid', () => {
    const debts = newDebts()
    debts.charge('ada', 200)
    for (let i = 0; i < 2_000; i++) debts.charge(`user ${i}`, 1)
    assert.equal(debts.wait('ada'), 10_000)
  })
})
