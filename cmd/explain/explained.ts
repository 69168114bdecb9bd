import type { Explanation } from '../../authz/index.ts'
import type { ConnectionFlags } from '../flags/connection.ts'

/** The flags of `oriel explain`. */
export interface ExplainOptions extends ConnectionFlags {
  readonly as?: string
  readonly asGroup?: readonly string[]
  readonly namespace?: string
  readonly allNamespaces?: true
  readonly subresource?: string
  readonly output: 'text' | 'yaml' | 'json'
}

/** What somebody wants to know: `get configmaps/settings` as it was typed. */
export interface Asked {
  readonly verb: string
  readonly resource: string
  readonly name?: string
}

/** What the server said. `explanation` is absent on servers that do not explain, such as kcp. */
export interface Explained {
  readonly allowed: boolean
  readonly reason: string
  readonly explanation?: Explanation
}
