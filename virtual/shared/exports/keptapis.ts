import { type ApiResource, type ApiSet, apiSetOf, type Params } from '../../../framework/index.ts'

/** The resources for some params, and a text that changes with them. */
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

/** A cache of ApiSets by params: the same object is returned until its resources change. */
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

  /** Drops changed sets and ends their watches; the next request creates them again. */
  refresh(): void {
    for (const [key, { params, version, replaced }] of this.#kept) {
      if (this.#plan(params)?.version === version) continue
      this.#kept.delete(key)
      replaced.abort()
    }
  }
}
