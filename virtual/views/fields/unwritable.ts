import { isFields } from './path.ts'
import type { PathTree } from './paths.ts'

/**
 * What a client sent, with everything that is not at a writable path as it was before. Clients send empty objects and nulls for
 * absent fields: they are no changes, but must not be stored either.
 */
export function withUnwritable(sent: unknown, before: unknown, tree: PathTree | undefined): unknown {
  if (tree === undefined) return before
  if (tree.isEnd || tree.each !== undefined) return sent
  if (!isFields(sent)) return before
  const old = isFields(before) ? before : {}
  const kept: Record<string, unknown> = {}
  for (const key of new Set([...Object.keys(sent), ...Object.keys(old)])) {
    const own = Object.hasOwn(sent, key) ? sent[key] : undefined
    const value = withUnwritable(own, Object.hasOwn(old, key) ? old[key] : undefined, tree.keys.get(key))
    if (value !== undefined)
      Object.defineProperty(kept, key, { value, writable: true, enumerable: true, configurable: true })
  }
  return Object.keys(kept).length === 0 && before === undefined ? undefined : kept
}
