import { type ApiResource, type ApiSet, apiSetOf, type Params } from '../../../framework/index.ts'

/** What is to be served under some params, and a text that changes when that does. */
export interface Plan<P extends Params> {
  readonly version: string
  resources(): readonly ApiResource<P>[]
}

interface Kept<P extends Params> {
  readonly params: P
  readonly version: string
  readonly set: ApiSet<P>
  readonly replaced: AbortController
}

/** The ApiSets that somebody asked for: each the same object until what it is made of changes. */
export class KeptApis<P extends Params> {
  readonly #kept = new Map<string, Kept<P>>()
  readonly #plan: (params: P) => Plan<P> | undefined

  constructor(plan: (params: P) => Plan<P> | undefined) {
    this.#plan = plan
  }

  of(params: P): ApiSet<P> | undefined {
    const key = Object.values(params).join('/')
    const kept = this.#kept.get(key) ?? this.#make(params)
    if (kept !== undefined) this.#kept.set(key, kept)
    return kept?.set
  }

  #make(params: P): Kept<P> | undefined {
    const plan = this.#plan(params)
    if (plan === undefined) return undefined
    const replaced = new AbortController()
    return { params, version: plan.version, set: apiSetOf(plan.resources(), replaced.signal), replaced }
  }

  /** Drops what has changed and ends its watches; the next request makes it anew. */
  refresh(): void {
    for (const [key, { params, version, replaced }] of this.#kept) {
      if (this.#plan(params)?.version === version) continue
      this.#kept.delete(key)
      replaced.abort()
    }
  }
}
