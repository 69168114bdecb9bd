import assert from 'node:assert/strict'
import { type Conditions, isFalse, isTrue, removeCondition, setConditions, summary } from './conditions.ts'

const at = (seconds: number): Date => new Date(Date.UTC(2026, 0, 1, 0, 0, seconds, 500))
const times = (conditions: Conditions): string[] => conditions.map(c => `${c.type} ${c.lastTransitionTime}`)

describe('conditions', () => {
  it('puts Ready first and the others in order, with times in whole seconds', () => {
    const list = setConditions(undefined, [isTrue('B'), isTrue('Ready'), isTrue('A')], at(1))
    assert.deepEqual(times(list), [
      'Ready 2026-01-01T00:00:01Z',
      'A 2026-01-01T00:00:01Z',
      'B 2026-01-01T00:00:01Z',
    ])
  })
  it('moves the time when only the message changes', () => {
    const first = setConditions(undefined, [isFalse('A', 'Info', 'Waiting', 'one'), isTrue('B')], at(1))
    const second = setConditions(first, [isFalse('A', 'Info', 'Waiting', 'two'), isTrue('B')], at(2))
    assert.deepEqual(times(second), ['A 2026-01-01T00:00:02Z', 'B 2026-01-01T00:00:01Z'])
  })
  it('returns the same list when nothing changes', () => {
    const list = setConditions(undefined, [isFalse('A', 'Error', 'Broken', 'why')], at(1))
    assert.equal(setConditions(list, [isFalse('A', 'Error', 'Broken', 'why')], at(9)), list)
  })
  it('clears reason, severity and message when True', () => {
    const broken = setConditions(undefined, [isFalse('A', 'Error', 'Broken', 'why')], at(1))
    assert.deepEqual(setConditions(broken, [isTrue('A')], at(2)), [
      { type: 'A', status: 'True', lastTransitionTime: '2026-01-01T00:00:02Z' },
    ])
  })
  it('removes', () => {
    const list = setConditions(undefined, [isTrue('A'), isTrue('B')], at(1))
    assert.deepEqual(times(removeCondition(list, 'A')), ['B 2026-01-01T00:00:01Z'])
    assert.equal(removeCondition(list, 'C'), list)
  })
})

describe('summary of conditions', () => {
  const of = (...states: Parameters<typeof setConditions>[1]) =>
    summary(
      setConditions(undefined, states, at(0)),
      states.map(s => s.type),
    )
  it('takes the worst', () => {
    const state = of(isTrue('A'), isFalse('B', 'Info', 'I', 'i'), isFalse('C', 'Error', 'E', 'e'))
    assert.deepEqual(state, { type: 'Ready', status: 'False', severity: 'Error', reason: 'E', message: 'e' })
  })
  it('prefers a warning to an info, and True to Unknown', () => {
    assert.equal(of(isFalse('B', 'Info', 'I', 'i'), isFalse('C', 'Warning', 'W', 'w')).reason, 'W')
    assert.equal(of({ type: 'A', status: 'Unknown' }, isTrue('B')).status, 'True')
  })
  it('summarizes only the considered ones', () => {
    const list = setConditions(undefined, [isTrue('A'), isFalse('B', 'Error', 'E', 'e')], at(0))
    assert.deepEqual(summary(list, ['A']), { type: 'Ready', status: 'True' })
  })
})
