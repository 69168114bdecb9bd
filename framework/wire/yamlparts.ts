import { isMembers } from '../json/values.ts'
import { formatYaml } from './yaml.ts'

/** Values that are encoded at once: the encoder takes microseconds per value. */
const valuesOfPart = 200

/**
 * The text of `formatYaml(value)` in parts, which are encoded one by one. Inside a large value, a string like `---` is
 * quoted, because it could begin a document.
 */
export function* yamlParts(value: unknown, most = valuesOfPart): Generator<string> {
  if (left(value, most) >= 0) yield formatYaml(value)
  else if (Array.isArray(value)) yield* partsOfList(value, most)
  else if (isMembers(value)) yield* partsOfMap(value, most)
  else yield formatYaml(value)
}

/** How many of `most` values are left after a value and those inside it; negative if there are more. */
function left(value: unknown, most: number): number {
  let rest = most - 1
  if (Array.isArray(value)) {
    for (const item of value) if (rest >= 0) rest = left(item, rest)
    return rest
  }
  if (isMembers(value)) for (const key in value) if (rest >= 0) rest = left(value[key], rest)
  return rest
}

function* partsOfList(items: readonly unknown[], most: number): Generator<string> {
  let batch: unknown[] = []
  let room = most
  for (const item of items) {
    const rest = left(item, room)
    if (rest >= 0) {
      batch.push(item)
      room = rest
      continue
    }
    if (batch.length > 0) yield formatYaml(batch)
    const isLarge = left(item, most) < 0
    batch = isLarge ? [] : [item]
    room = isLarge ? most : left(item, most)
    if (isLarge) yield* itemParts(item, most)
  }
  if (batch.length > 0) yield formatYaml(batch)
}

function* itemParts(item: unknown, most: number): Generator<string> {
  let mark = '- '
  for (const part of yamlParts(item, most)) {
    const text = indented(part)
    yield mark === '' ? text : mark + text.slice(mark.length)
    mark = ''
  }
}

function* partsOfMap(members: Readonly<Record<string, unknown>>, most: number): Generator<string> {
  let batch: [string, unknown][] = []
  let room = most
  for (const key of Object.keys(members).sort()) {
    const value = members[key]
    const rest = left(value, room)
    if (rest >= 0) {
      batch.push([key, value])
      room = rest
      continue
    }
    if (batch.length > 0) yield formatYaml(Object.fromEntries(batch))
    const isLarge = left(value, most) < 0
    batch = isLarge ? [] : [[key, value]]
    room = isLarge ? most : left(value, most)
    if (isLarge) yield* memberParts(key, value, most)
  }
  if (batch.length > 0) yield formatYaml(Object.fromEntries(batch))
}

const noValue = ': null\n'

function* memberParts(key: string, value: unknown, most: number): Generator<string> {
  const empty = formatYaml({ [key]: null })
  // Long keys have a form of two lines.
  if (empty.indexOf('\n') < empty.length - 1) {
    yield formatYaml({ [key]: value })
    return
  }
  yield `${empty.slice(0, -noValue.length)}:\n`
  for (const part of yamlParts(value, most)) yield Array.isArray(value) ? part : indented(part)
}

const indented = (text: string): string => text.replace(/^(?=[^\n])/gm, '  ')
