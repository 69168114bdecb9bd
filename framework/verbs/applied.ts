import { isDeepStrictEqual } from 'node:util'
import type { KubeObject } from '../meta/object.ts'

type Config = Readonly<Record<string, unknown>>

/**
 * The configuration that makes what admission made of an applied object: the same one, or one with the labels that
 * admission added. undefined: admission has changed something else.
 */
export function configFor(config: Config, applied: KubeObject, admitted: KubeObject): Config | undefined {
  if (admitted === applied) return config
  if (!isDeepStrictEqual(withoutLabels(admitted), withoutLabels(applied))) return undefined
  const before = applied.metadata.labels ?? {}
  const after = admitted.metadata.labels ?? {}
  if (Object.entries(before).some(([key, value]) => after[key] !== value)) return undefined
  const added = Object.entries(after).filter(([key]) => !Object.hasOwn(before, key))
  const metadata = (config.metadata ?? {}) as KubeObject['metadata']
  return {
    ...config,
    metadata: { ...metadata, labels: { ...metadata.labels, ...Object.fromEntries(added) } },
  }
}

function withoutLabels({ metadata, ...object }: KubeObject): object {
  const { labels: _, ...others } = metadata
  return { ...object, metadata: others }
}
