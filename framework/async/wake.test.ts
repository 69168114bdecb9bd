import assert from 'node:assert/strict'
import { setImmediate as turn } from 'node:timers/promises'
import { valuesAndWakes, Wake } from './wake.ts'

/** A generator whose values are pushed. It ends with the first undefined. */
class Pushed {
  hasReturned = false
  #pushed: (string | undefined)[] = []
  #arrived = (): void => undefined

  push(value: string | undefined): void {
    this.#pushed.push(value)
    this.#arrived()
  }

  async *values(): AsyncGenerator<string, void> {
    try {
      for (;;) {
        while (this.#pushed.length === 0)
          await new Promise<void>(resolve => {
            this.#arrived = resolve
          })
        const value = this.#pushed.shift()
        if (value === undefined) return
        yield value
      }
    } finally {
      this.hasReturned = true
    }
  }
}

describe('values and wakes', () => {
  const wake = new Wake()
  const source = new Pushed()
  const joined = valuesAndWakes(source.values(), wake)

  it('has the values, and undefined after each ring', async () => {
    const first = joined.next()
    source.push('a')
    assert.equal((await first).value, 'a')
    const second = joined.next()
    wake.ring()
    assert.deepEqual(await second, { done: false, value: undefined })
    source.push('b')
    assert.equal((await joined.next()).value, 'b')
  })

  it('keeps a ring that comes while the reader works', async () => {
    wake.ring()
    assert.deepEqual(await joined.next(), { done: false, value: undefined })
  })

  it('has undefined once before the end', async () => {
    source.push(undefined)
    assert.deepEqual(await joined.next(), { done: false, value: undefined })
    assert.deepEqual(await joined.next(), { done: true, value: undefined })
  })

  it('returns the generator when the reader stops', async () => {
    const other = new Pushed()
    const stopped = valuesAndWakes(other.values(), new Wake())
    const first = stopped.next()
    other.push('a')
    await first
    await stopped.return()
    await turn()
    assert.ok(other.hasReturned)
  })

  it('throws the error of the generator', async () => {
    const failing = async function* (): AsyncGenerator<string, void> {
      yield 'a'
      throw new Error('lost')
    }
    const read = async () => {
      for await (const _ of valuesAndWakes(failing(), new Wake()));
    }
    await assert.rejects(read, /lost/)
  })
})
