import type { PathTree } from './pathtree.ts'
import { isFields, memberOf } from './values.ts'

/**
 * What a client sent, with everything that is not at a writable path as it was before. Clients send empty objects and nulls for
 * absent fields: they are no changes, but must not be stored either. A list with writable parts is as it was sent.
 */
export function withUnwritable(sent: unknown, before: unknown, tree: PathTree | undefined): unknown {
  if (tree === undefined) return before
  if (tree.isEnd || Array.isArray(sent) || Array.isArray(before)) return sent
  const kept: Record<string, unknown> = {}
  for (const key of new Set([...keysOf(sent), ...keysOf(before)])) {
    const value = memberWith(key, { sent: memberOf(sent, key), before: memberOf(before, key) }, tree)
    if (value !== undefined)
      Object.defineProperty(kept, key, { value, writable: true, enumerable: true, configurable: true })
  }
  return Object.keys(kept).length === 0 && before === undefined ? undefined : kept
}

interface Member {
  readonly sent: unknown
  readonly before: unknown
}

/** What two paths lead through, one with this key and one with each, is as it was sent. */
function memberWith(key: string, { sent, before }: Member, { keys, each }: PathTree): unknown {
  const own = keys.get(key)
  return own !== undefined && each !== undefined ? sent : withUnwritable(sent, before, own ?? each)
}

const keysOf = (value: unknown): readonly string[] => (isFields(value) ? Object.keys(value) : [])
