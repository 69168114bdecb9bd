import { LRUCache } from 'lru-cache'
import type { JSONSchemaProps } from '../../framework/meta/jsonschema.ts'
import { lengthOf, schemaHash } from '../nodes/schemahash.ts'

/** Characters of the schemas that expressions keep alive: some hundred megabytes. */
const mostCharacters = 16 * 1024 * 1024

interface Entry<T> {
  readonly hash: string
  readonly value: T
}

/**
 * Compiled expressions by their key and the content of the schema that they are about: the last used, as long as their schemas are among
 * the last used. An expression keeps the first of the equal schemas alive.
 */
export class ExpressionCache<T> {
  readonly #entries: LRUCache<string, Entry<T>>
  /** The keys of the entries about a schema, by its hash. */
  readonly #schemas: LRUCache<string, Set<string>>

  constructor(max: number, characters = mostCharacters) {
    this.#entries = new LRUCache({
      max,
      dispose: ({ hash }, key) => void this.#schemas.peek(hash)?.delete(key),
    })
    this.#schemas = new LRUCache({
      maxSize: characters,
      dispose: keys => {
        for (const key of keys) this.#entries.delete(key)
      },
    })
  }

  get(schema: JSONSchemaProps, key: string): T | undefined {
    const hash = schemaHash(schema)
    this.#schemas.get(hash)
    return this.#entries.get(hash + key)?.value
  }

  set(schema: JSONSchemaProps, key: string, value: T): void {
    const hash = schemaHash(schema)
    const keys = this.#schemas.get(hash) ?? new Set()
    this.#schemas.set(hash, keys, { size: lengthOf(schema) })
    // A schema that is larger than all that are kept is not among them.
    if (!this.#schemas.has(hash)) return
    this.#entries.set(hash + key, { hash, value })
    keys.add(hash + key)
  }
}
