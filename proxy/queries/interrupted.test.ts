import assert from 'node:assert/strict'
import { positionAnnotation } from '../../framework/selectors/order.ts'
import { listParts } from './list.ts'
import type { ShardPart } from './part.ts'
import { chunksIn } from './testing/answering.ts'

/** undici's error for a connection that the other server closed. */
const closed = (): Error => Object.assign(new Error('other side closed'), { code: 'UND_ERR_SOCKET' })

const metadata = { resourceVersion: '5' }
const objectAt = (name: string): object => ({
  metadata: { name, annotations: { [positionAnnotation]: JSON.stringify({ value: name, id: [name] }) } },
})
const textOf = (names: readonly string[]): string =>
  JSON.stringify({ kind: 'ConfigMapList', apiVersion: 'v1', metadata, items: names.map(objectAt) })

/** The list of these names; it ends with the error after the object `last`. */
async function* body(
  names: readonly string[],
  last: string,
  error: () => Error,
): AsyncGenerator<Buffer, void> {
  const text = textOf(names)
  if (last === '') return yield Buffer.from(text)
  const next = JSON.stringify(objectAt(names[names.indexOf(last) + 1] ?? ''))
  // More than the smallest piece, so that the objects are read before the error.
  yield Buffer.from(text.slice(0, text.indexOf(next)) + ' '.repeat(128 * 1024))
  throw error()
}

/** A shard whose lists end with an error after these objects, one after the other; '': it is complete. */
class Interrupted implements ShardPart {
  readonly shard: string
  asked = 0
  readonly #names: readonly string[]
  readonly #lasts: readonly string[]
  readonly #error: () => Error

  constructor(names: readonly string[], lasts: readonly string[], error = closed) {
    this.shard = names[0] ?? ''
    this.#names = names
    this.#lasts = lasts
    this.#error = error
  }

  readonly ask: ShardPart['ask'] = async ({ labelSelector }) => {
    const isProbe = labelSelector !== undefined
    const names = isProbe ? [] : this.#names
    const last = isProbe ? '' : (this.#lasts[this.asked++] ?? '')
    return { statusCode: 200, headers: {}, body: body(names, last, this.#error) } as never
  }
}

const first = (): Interrupted => new Interrupted(['a', 'd', 'e'], [])

async function named(parts: readonly ShardPart[]): Promise<readonly string[]> {
  const list = listParts(parts, new URLSearchParams({ orderBy: 'object.metadata.name' }))
  const { items } = JSON.parse(Buffer.concat(await chunksIn(list)).toString())
  return items.map((item: { metadata: { name: string } }) => item.metadata.name)
}

describe('an ordered list of a query', () => {
  it('goes on with a shard that has cut off its list, because others were read meanwhile', async () => {
    const second = new Interrupted(['b', 'c', 'f', 'g'], ['b', 'f', ''])
    assert.deepEqual(await named([first(), second]), ['a', 'b', 'c', 'd', 'e', 'f', 'g'])
    assert.equal(second.asked, 3)
  })

  it('ends with an error when a shard cuts off its list again before it has sent more', async () => {
    const second = new Interrupted(['b', 'c', 'f', 'g'], ['c', 'b', ''])
    await assert.rejects(named([first(), second]), { code: 502, message: /the connection was closed/ })
    assert.equal(second.asked, 2)
  })

  it('ends with another error of a shard', async () => {
    const second = new Interrupted(['b', 'c'], ['b', ''], () => new SyntaxError())
    await assert.rejects(named([first(), second]), { code: 502, message: /is not a list/ })
    assert.equal(second.asked, 1)
  })
})
