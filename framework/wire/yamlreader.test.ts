import assert from 'node:assert/strict'
import { Worker } from 'node:worker_threads'
import { turnsDuring } from '../../test/support/time/during.ts'
import { StatusError } from '../meta/errors.ts'
import { parseYaml } from './yaml.ts'
import { YamlReader } from './yamlreader.ts'

const refusal = async (parse: () => unknown): Promise<string> => {
  try {
    await parse()
  } catch (error) {
    assert.ok(error instanceof StatusError, String(error))
    assert.equal(error.code, 413)
    return error.message
  }
  return assert.fail('not refused')
}

const lines = (count: number): string => Array.from({ length: count }, (_, i) => `k${i}: v${i}\n`).join('')

/** Threads of Node 20 do not inherit the loader of TypeScript. */
const fromSources = (): Worker => {
  const file = JSON.stringify(new URL('yamlworker.ts', import.meta.url).href)
  const code = `import('tsx/esm/api').then(({ register }) => { register(); return import(${file}) })`
  return new Worker(code, { eval: true })
}

const codeOf = (answer: PromiseSettledResult<unknown>): number | undefined =>
  answer.status === 'rejected' && answer.reason instanceof StatusError ? answer.reason.code : undefined

describe('the YAML reader', () => {
  const reader = import.meta.filename.endsWith('.ts') ? new YamlReader(fromSources) : new YamlReader()
  after(() => reader.close())

  /** Reads documents of a user; `order` gets the user when each has been read. */
  const documents = (user: string, count: number, order: string[] = []): readonly Promise<unknown>[] =>
    Array.from({ length: count }, async (_, i) => {
      const { value } = await reader.read(`index: ${i}\n${lines(1_000)}`, user)
      order.push(user)
      return (value as { index: number }).index
    })

  it('reads short documents at once, as the parser does', () => {
    assert.deepEqual(reader.read('a: yes\na: 12345678901234567890\n', 'alice'), {
      value: { a: 12345678901234567890n },
      duplicates: ['line 2: key "a" already set in map'],
    })
    assert.throws(() => reader.read('a: [', 'alice'), SyntaxError)
  })

  it('reads long documents beside the event loop, with the same results', async () => {
    const text = `${lines(2_000)}big: 12345678901234567890\nk0: again\n`
    const promise = Promise.resolve(reader.read(text, 'alice'))
    assert.ok((await turnsDuring(promise)) > 1)
    const { value, duplicates } = parseYaml(text)
    assert.deepEqual(await promise, { value, duplicates })
    assert.deepEqual(duplicates, ['line 2002: key "k0" already set in map'])
  })

  it('rejects long documents with the errors of the parser', async () => {
    const text = `${lines(1_000)}a: [`
    assert.throws(() => parseYaml(text), SyntaxError)
    await assert.rejects(async () => reader.read(text, 'alice'), SyntaxError)
    assert.match(await refusal(() => reader.read('#\n'.repeat(400_000), 'alice')), /300000 tokens/)
  })

  it('reads several documents of a user in their order, and refuses more than it can hold', async () => {
    const answers = await Promise.allSettled(documents('eve', 100))
    const read = answers.filter(({ status }) => status === 'fulfilled')
    assert.ok(read.length >= 64 && read.length < 100)
    for (const answer of answers.slice(read.length)) assert.equal(codeOf(answer), 429)
  })

  it('reads documents of several users in turn, and refuses those of the user with the most', async () => {
    const order: string[] = []
    const many = Promise.allSettled(documents('eve', 65, order))
    const few = documents('alice', 3, order)
    assert.deepEqual(await Promise.all(few), [0, 1, 2])
    assert.ok(order.length <= 8, order.join())
    const refused = (await many).map(codeOf).filter(code => code !== undefined)
    assert.deepEqual(refused, [429, 429, 429])
  })
})

describe('the limits of YAML', () => {
  it('refuse documents with too many tokens: values, lines or comments', async () => {
    for (const text of [`a: [${'1,'.repeat(400_000)}1]`, '#\n'.repeat(400_000), 'a: 1\n'.repeat(200_000)])
      assert.match(await refusal(() => parseYaml(text)), /limit of YAML is 300000 tokens/)
  })

  it('have binary scalars as the texts that they encode, as in Go', () => {
    assert.deepEqual(parseYaml('{a: !!binary aGVsbG8=, b: !!binary w6Q=}').value, { a: 'hello', b: 'ä' })
  })

  it('leave the stacks of other errors as they are', () => {
    const before = Error.stackTraceLimit
    assert.ok(before > 0)
    assert.throws(() => parseYaml('data:\n  %\n%'), SyntaxError)
    assert.equal(Error.stackTraceLimit, before)
  })

  it('refuse aliases that repeat a large value', async () => {
    const text = `a: &a [${'1,'.repeat(20_000)}1]\nb: [${'*a,'.repeat(90)}*a]\n`
    assert.match(await refusal(() => parseYaml(text)), /limit of YAML is 300000 values/)
  })

  it('name the line of each of many repeated keys', () => {
    const { duplicates } = parseYaml('a: 1\n'.repeat(20_000))
    assert.equal(duplicates[0], 'line 2: key "a" already set in map')
    assert.equal(duplicates.at(-1), 'line 20000: key "a" already set in map')
    assert.equal(duplicates.length, 19_999)
  })
})
