import type { ListQuery, Selection } from '../contract/storage.ts'
import {
  checkNumbers,
  checkResourceVersion,
  listOptions,
  type WatchOptions,
  watchOptions,
} from '../query/options.ts'
import { parseSelectors, selectionOf } from '../query/selection.ts'
import type { Call } from './call.ts'

/** What a list or deletecollection is about. Throws 400 and 422. */
export function listQuery(call: Call): ListQuery {
  const { selection, options } = queryOf(call, listOptions)
  // Storage reads the token before it looks at the version.
  if (options.continue === undefined) checkResourceVersion(options.resourceVersion ?? '')
  return { ...selection, ...options }
}

/** What a watch is about, and how long it may last. Throws 400 and 422. */
export function watchQuery(call: Call): WatchOptions & { readonly selection: Selection } {
  const { selection, options } = queryOf(call, watchOptions)
  checkResourceVersion(options.watch.resourceVersion ?? '')
  return { selection, ...options }
}

/** In upstream's order: what cannot be read, what may not be, what this kind cannot be selected by. */
function queryOf<T>(
  { ctx, info, served, request: { query } }: Call,
  read: (query: URLSearchParams) => T,
): { readonly selection: Selection; readonly options: T } {
  checkNumbers(query)
  const selectors = parseSelectors(query)
  const options = read(query)
  return { selection: selectionOf(ctx, info, selectors, served.resource), options }
}
