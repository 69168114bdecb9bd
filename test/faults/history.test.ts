import assert from 'node:assert/strict'
import { checkHistory, History, type Operation, type Watched } from './history.ts'

const written = (value: string, version: number | undefined, begun: number): Operation => ({
  client: 0,
  kind: 'write',
  key: 'a',
  value,
  begun,
  ...(version !== undefined && { version, ended: begun + 1 }),
})
const readAt = (value: string, version: number, begun: number): Operation => ({
  client: 1,
  kind: 'read',
  key: 'a',
  value,
  version,
  begun,
  ended: begun + 1,
})
const event = (value: string, version: number): Watched => ({ key: 'a', value, version })

function historyOf(operations: readonly Operation[], ...watches: readonly (readonly Watched[])[]): History {
  const history = new History()
  history.operations.push(...operations)
  history.watches.push(...watches.map(watch => [...watch]))
  return history
}

const finds = (what: RegExp, history: History): void => assert.throws(() => checkHistory(history), what)

describe('the check of histories', () => {
  const operations = [
    written('1', 10, 0),
    written('2', undefined, 2),
    readAt('2', 11, 4),
    written('3', 12, 6),
  ]
  const events = [event('1', 10), event('2', 11), event('3', 12)]

  it('accepts writes that are seen once, also those with an unknown outcome', () => {
    checkHistory(historyOf(operations, events, events))
  })

  it('finds a write that was made twice', () => {
    const twice = [event('1', 10), event('2', 11), event('3', 12), event('2', 13)]
    finds(/a had 2 at 11 and at 13/, historyOf(operations, twice))
  })

  it('finds an acknowledged write that was lost', () => {
    finds(/acknowledged writes without their event/, historyOf(operations, events.slice(0, 2)))
  })

  it('finds events that came twice or out of order', () => {
    finds(/twice or out of order/, historyOf(operations, [...events, event('3', 12)]))
    finds(/twice or out of order/, historyOf(operations, [event('2', 11), event('1', 10), event('3', 12)]))
  })

  it('finds a read that goes back, and a value that nobody wrote', () => {
    finds(/is older than/, historyOf([...operations, readAt('1', 10, 8)], events))
    finds(/which was not written/, historyOf([...operations, readAt('4', 13, 8)], events))
  })
})
