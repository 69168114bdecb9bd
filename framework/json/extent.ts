import { Work } from './json.ts'
import { isObject, keysOf } from './values.ts'

/** The size of a JSON value. */
export interface Extent {
  /** At all levels. */
  readonly values: number
  /** In strings and in the names of members. */
  readonly characters: number
}

/** Whether a value is larger than `most`, in steps. */
export function* exceedsSteps(value: unknown, most: Extent): Generator<void, boolean> {
  const work = new Work()
  const open: unknown[] = []
  let values = 0
  let characters = 0
  const count = (found: unknown): void => {
    values++
    if (typeof found === 'string') characters += found.length
    else if (typeof found === 'object' && found !== null) open.push(found)
  }
  for (count(value); open.length > 0; ) {
    for (const [key, child] of childrenOf(open.pop())) {
      characters += key.length
      count(child)
      if (values > most.values || characters > most.characters) return true
      if (work.isStepDone()) yield
    }
  }
  return values > most.values || characters > most.characters
}

/** Items have no keys. */
function* childrenOf(value: unknown): Generator<readonly [string, unknown]> {
  if (Array.isArray(value)) for (const item of value) yield ['', item]
  else if (isObject(value)) for (const key of keysOf(value)) yield [key, value[key]]
}
