import type { KubeObject } from '../../../framework/meta/object.ts'
import { withMetadata } from '../../registry/strategy.ts'

/**
 * The object with some annotations as they were, or gone when there is no old object: only the system writes them,
 * because it believes them.
 */
export function withSystemAnnotations<T extends KubeObject>(
  object: T,
  old: KubeObject | undefined,
  keys: readonly string[],
): T {
  const [sent, known] = [object.metadata.annotations ?? {}, old?.metadata.annotations ?? {}]
  if (keys.every(key => sent[key] === known[key])) return object
  const own = Object.entries(sent).filter(([key]) => !keys.includes(key))
  const kept = Object.entries(known).filter(([key]) => keys.includes(key))
  return withMetadata(object, { annotations: Object.fromEntries([...own, ...kept]) }) as T
}
