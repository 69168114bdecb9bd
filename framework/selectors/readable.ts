import { parseFieldSelector } from './fieldselector.ts'
import { parseLabelSelector } from './labelselector.ts'
import type { Selectors } from './selectors.ts'

/** Selectors for authorization: one that cannot be read limits nothing, as in Kubernetes. */
export function readableSelectors(fields?: string | null, labels?: string | null): Selectors {
  const fieldSelector = readable(parseFieldSelector, fields)
  const labelSelector = readable(parseLabelSelector, labels)
  return { ...(fieldSelector && { fieldSelector }), ...(labelSelector && { labelSelector }) }
}

function readable<T extends { readonly requirements: readonly unknown[] }>(
  parse: (text: string) => T,
  text: string | null | undefined,
): T | undefined {
  if (!text) return undefined
  try {
    const selector = parse(text)
    return selector.requirements.length === 0 ? undefined : selector
  } catch {
    return undefined
  }
}
