import type { Input } from './input.ts'
import { mutate, type Random } from './mutations.ts'

/** An input, and what it costs. */
export interface Found {
  readonly input: Input
  /** Milliseconds of processor time, of all threads. */
  readonly cost: number
  /** Of the bodies and paths. */
  readonly bytes: number
}

/** Inputs of each name that are mutated further. */
const kept = 12

/** Bytes that count at least, so that not only short inputs are tried further. */
const least = 16_384

const price = ({ cost, bytes }: Found): number => cost / Math.max(least, bytes)

const bytesOf = ({ steps }: Input): number =>
  steps.reduce((sum, { path, body = '' }) => sum + path.length + Buffer.byteLength(body), 0)

/** A search for inputs that take the most processor time for their length: what is dear is mutated further. */
export class SlowInputs {
  readonly #measure: (input: Input) => Promise<number>
  readonly #random: Random
  readonly #best = new Map<string, Found[]>()
  #tried = 0

  /** `measure` runs an input, and returns its cost. */
  constructor(measure: (input: Input) => Promise<number>, random: Random) {
    this.#measure = measure
    this.#random = random
  }

  get tried(): number {
    return this.#tried
  }

  /** The dearest input of each name. */
  get dearest(): readonly Found[] {
    return [...this.#best.values()].flatMap(found =>
      found.reduce<Found[]>((most, each) => (each.cost > (most[0]?.cost ?? 0) ? [each] : most), []),
    )
  }

  async add(input: Input): Promise<void> {
    this.#tried++
    const found = { input, bytes: bytesOf(input), cost: await this.#measure(input) }
    const best = [...(this.#best.get(input.name) ?? []), found].sort((a, b) => price(b) - price(a))
    this.#best.set(input.name, best.slice(0, kept))
  }

  /** Tries one mutation of an input that was dear. */
  async step(): Promise<void> {
    const names = [...this.#best.keys()]
    const best = this.#best.get(names[this.#random(names.length)] ?? '') ?? []
    const from = best[this.#random(best.length)]
    if (from !== undefined) await this.add(mutate(from.input, this.#random))
  }
}
