/** How a view names objects or namespaces. Both functions are pure and synchronous, and the inverse of each other. */
export interface NameMapping {
  /** The name in the view; undefined: the view does not show it. */
  shown(stored: string): string | undefined
  /** The stored name; undefined: the view has no such name. */
  stored(shown: string): string | undefined
}

/**
 * Stored names begin with `prefix`, and the view shows the rest. Others are not in the view:
 *
 * ```ts
 * const storage = renamed(configMaps.storage, ({ params }) => ({ names: prefixed(`${params.team}-`) }))
 * ```
 */
export const prefixed = (prefix: string): NameMapping => ({
  shown: stored =>
    stored.startsWith(prefix) && stored.length > prefix.length ? stored.slice(prefix.length) : undefined,
  stored: shown => prefix + shown,
})

/** NameMapping by a table from shown to stored names. Others are not in the view. Throws an `Error` if two names mean the same. */
export function namesIn(table: Readonly<Record<string, string>>): NameMapping {
  const stored = new Map(Object.entries(table))
  const shown = new Map([...stored].map(([name, of]) => [of, name]))
  if (shown.size !== stored.size) throw new Error('two names of a view mean the same stored name')
  return { shown: name => shown.get(name), stored: name => stored.get(name) }
}

/** The names of a view and their counterparts, checked: a pair that is not each other's inverse is not in the view. */
export class CheckedNames {
  readonly #names: NameMapping | undefined

  constructor(names: NameMapping | undefined) {
    this.#names = names
  }

  /** All names are shown as they are stored. */
  get isSame(): boolean {
    return this.#names === undefined
  }

  shown(stored: string): string | undefined {
    if (this.#names === undefined || stored === '') return stored
    const shown = text(this.#names.shown(stored))
    return shown !== undefined && this.#names.stored(shown) === stored ? shown : undefined
  }

  stored(shown: string): string | undefined {
    if (this.#names === undefined || shown === '') return shown
    const stored = text(this.#names.stored(shown))
    return stored !== undefined && this.#names.shown(stored) === shown ? stored : undefined
  }
}

function text(name: unknown): string | undefined {
  if (name === undefined || (typeof name === 'string' && name !== '')) return name
  throw new TypeError('the functions of names must return a name or undefined')
}
