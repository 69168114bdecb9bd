/** Limits of the cache: keys of one object, length of a key, keys of all objects. */
const limits = { keys: 32, length: 256, all: 2000 }

interface Step<T> {
  value?: T
  readonly next: Map<string, Step<T>>
}

const newStep = <T>(): Step<T> => ({ next: new Map() })

const isEmpty = (value: unknown): boolean => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  for (const _ in value) return false
  return true
}

/**
 * Caches a function of the keys of an object whose values are all empty objects. The items of a list, and the lists of
 * many objects, have the same few keys.
 */
export class Leaves<T> {
  #root = newStep<T>()
  #steps = 0

  /** undefined: a value is not empty, or the object exceeds the limits. */
  of(object: Readonly<Record<string, unknown>>, keys: readonly string[], compute: () => T): T | undefined {
    const step = this.#stepOf(object, keys)
    if (step !== undefined) step.value ??= compute()
    return step?.value
  }

  #stepOf(object: Readonly<Record<string, unknown>>, keys: readonly string[]): Step<T> | undefined {
    if (keys.length > limits.keys) return undefined
    let step = this.#root
    for (const key of keys) {
      if (!isEmpty(object[key])) return undefined
      step = step.next.get(key) ?? this.#add(step, key)
    }
    return step
  }

  #add(step: Step<T>, key: string): Step<T> {
    const next = newStep<T>()
    if (key.length > limits.length) return next
    if (++this.#steps > limits.all) {
      this.#root = newStep()
      this.#steps = 0
    } else step.next.set(key, next)
    return next
  }
}
