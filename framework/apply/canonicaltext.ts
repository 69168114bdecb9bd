import { canonicalJson, compareTexts, sortedSteps, Work } from '../json/json.ts'
import { isMembers, keysOf } from '../json/values.ts'

/** The least number of characters of a member. */
const shortestMember = 5

/**
 * The JSON on one line with sorted keys at each level, in steps; undefined if it has more than `most` characters: then
 * the rest of the value is not read.
 */
export function* canonicalText(value: unknown, most: number): Generator<void, string | undefined> {
  const text = new Text(most)
  yield* write(value, text, new Work())
  return text.isFull ? undefined : text.all
}

class Text {
  all = ''
  isFull = false
  readonly most: number

  constructor(most: number) {
    this.most = most
  }

  add(text: string): void {
    this.all += text
    if (this.all.length > this.most) this.isFull = true
  }
}

function* write(value: unknown, text: Text, work: Work): Generator<void> {
  if (work.isStepDone()) yield
  if (Array.isArray(value)) yield* writeItems(value, text, work)
  else if (isMembers(value)) yield* writeMembers(value, text, work)
  else text.add(value === undefined ? 'null' : canonicalJson(value))
}

function* writeItems(items: readonly unknown[], text: Text, work: Work): Generator<void> {
  text.add('[')
  for (let i = 0; i < items.length && !text.isFull; i++) {
    if (i > 0) text.add(',')
    yield* write(items[i], text, work)
  }
  text.add(']')
}

function* writeMembers(object: Record<string, unknown>, text: Text, work: Work): Generator<void> {
  const keys = keysOf(object)
  if (keys.length * shortestMember > text.most) text.isFull = true
  if (text.isFull) return
  text.add('{')
  let separator = ''
  for (const key of yield* sortedSteps(keys, compareTexts)) {
    if (text.isFull) return
    if (object[key] === undefined) continue
    text.add(`${separator}${JSON.stringify(key)}:`)
    yield* write(object[key], text, work)
    separator = ','
  }
  text.add('}')
}
