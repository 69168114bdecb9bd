import { createHash } from 'node:crypto'
import { expired } from '../../framework/meta/errors.ts'

/** Digits of the version of one shard, and of the check that the shards are the same. */
const [width, checkWidth] = [16, 6]

/**
 * The resourceVersions of several shards as one. It is a decimal number that grows when one of them grows, because clients compare
 * versions (KEP-5504): the sum of all, a check of the names of the shards, and the version of each in 16 digits. '0' stands for a
 * shard that has no such resource.
 */
export class Revisions {
  readonly #count: number
  readonly #check: string

  /** The names of the shards, sorted. */
  constructor(shards: readonly string[]) {
    this.#count = shards.length
    const hash = createHash('sha256').update(JSON.stringify(shards)).digest().readUInt32BE(0)
    this.#check = String(hash % 10 ** checkWidth).padStart(checkWidth, '0')
  }

  /** One version for each shard, in the order of their names. */
  joined(own: readonly string[]): string {
    const sum = own.reduce((sum, each) => sum + BigInt(each), 0n)
    return `${sum}${this.#check}${own.map(each => each.padStart(width, '0')).join('')}`
  }

  /** Throws 410 for the version of one shard, and for one of other shards. */
  split(joined: string): readonly string[] {
    const start = joined.length - width * this.#count
    const texts = Array.from({ length: this.#count }, (_, i) =>
      joined.slice(start + i * width).slice(0, width),
    )
    const isWellFormed = start > checkWidth && /^\d+$/.test(joined)
    const own = isWellFormed ? texts.map(text => String(BigInt(text))) : []
    if (own.length > 0 && this.joined(own) === joined) return own
    throw expired(`too old resource version: ${joined} (it is not a version of these shards)`)
  }

  /** '' and '0' are the same for each shard. */
  asked(version: string): readonly string[] {
    if (version === '' || version === '0') return Array.from({ length: this.#count }, () => version)
    return this.split(version)
  }
}

/** The higher one. */
export const newer = (a: string, b: string): string => (BigInt(a) > BigInt(b) ? a : b)
