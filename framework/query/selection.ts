import type { ApiResource } from '../contract/apis.ts'
import type { RequestContext } from '../contract/context.ts'
import type { ListQuery, Selection } from '../contract/storage.ts'
import { badRequest } from '../meta/errors.ts'
import type { ResourceRequest } from '../request/requestinfo.ts'
import { parseFieldSelector, parseLabelSelector } from '../selectors/parse.ts'
import {
  type FieldSelector,
  fieldEquals,
  type LabelSelector,
  requiredField,
  type Selectors,
} from '../selectors/selectors.ts'
import { checkNumbers, listOptions, readResourceVersion, type WatchOptions, watchOptions } from './options.ts'

type Selectable = Pick<ApiResource, 'selectableFields' | 'namespaced' | 'custom' | 'queryOptions'>

/** The parts of a list, watch or deletecollection call that select objects. */
interface CollectionCall {
  readonly ctx: RequestContext
  readonly info: ResourceRequest
  readonly served: { readonly resource: Selectable }
  readonly request: { readonly query: URLSearchParams }
}

interface ParsedSelectors {
  readonly labels: LabelSelector
  readonly fields: FieldSelector
}

/** The objects and options of a list or deletecollection. Throws 400 and 422. */
export function listQuery(call: CollectionCall): ListQuery {
  if (call.request.query.size === 0) return selectionOf(call, everything)
  const { selection, options } = queryOf(call, listOptions)
  // With a continue token, storage reports errors of the token before those of the version.
  if (options.continue === undefined) readResourceVersion(options.resourceVersion)
  return { ...selection, ...options }
}

/** The objects and options of a watch. Throws 400 and 422. */
export function watchQuery(call: CollectionCall): WatchOptions & { readonly selection: Selection } {
  const { selection, options } = queryOf(call, watchOptions)
  readResourceVersion(options.watch.resourceVersion)
  return { selection, ...options }
}

/** Reports errors in Kubernetes' order: malformed values, invalid options, then unsupported field selectors. */
function queryOf<T>(
  call: CollectionCall,
  read: (query: URLSearchParams) => T,
): { readonly selection: Selection; readonly options: T } {
  const { query } = call.request
  checkNumbers(query)
  const selectors = parseSelectors(query, call.info.selectors)
  const options = read(query)
  return { selection: selectionOf(call, selectors), options }
}

const everything: ParsedSelectors = { labels: { requirements: [] }, fields: { requirements: [] } }

/** `known`: those that were parsed for authorization. Throws 400 for malformed selectors. */
const parseSelectors = (query: URLSearchParams, known: Selectors = {}): ParsedSelectors => ({
  labels: known.labelSelector ?? parseLabelSelector(query.get('labelSelector') ?? ''),
  fields: known.fieldSelector ?? parseFieldSelector(query.get('fieldSelector') ?? ''),
})

/** Throws 400 for unsupported field selectors. */
function selectionOf({ ctx, info, served, request }: CollectionCall, selectors: ParsedSelectors): Selection {
  const { labels } = selectors
  const fields = namedFields(info.name, selectors.fields)
  for (const { field } of fields.requirements) refuseUnknownField(field, served.resource)
  return {
    cluster: ctx.cluster,
    ...(info.namespace === '' ? {} : { namespace: info.namespace }),
    ...(labels.requirements.length === 0 ? {} : { labels }),
    ...(fields.requirements.length === 0 ? {} : { fields }),
    ...ownOptions(served.resource, request.query),
  }
}

/** The parameters that only this resource has. */
function ownOptions({ queryOptions }: Selectable, query: URLSearchParams): Pick<Selection, 'options'> {
  if (queryOptions === undefined) return {}
  const sent = queryOptions.flatMap(name => (query.has(name) ? [[name, query.get(name) ?? ''] as const] : []))
  return { options: Object.fromEntries(sent) }
}

/** A name in the path is a field selector (rules.md 1.12). */
function namedFields(name: string, fields: FieldSelector): FieldSelector {
  if (name === '') return fields
  if (fields.requirements.length === 0) return fieldEquals('metadata.name', name)
  if (requiredField(fields, 'metadata.name') !== name) {
    throw badRequest("fieldSelector metadata.name doesn't match requested name")
  }
  return fields
}

function refuseUnknownField(field: string, { selectableFields, namespaced, custom }: Selectable): void {
  if (field === 'metadata.name' || (field === 'metadata.namespace' && (namespaced || !custom))) return
  const fields = Object.keys(selectableFields ?? {})
  if (fields.includes(field)) return
  if (custom || fields.length > 0) throw badRequest(`field label not supported: ${field}`)
  throw badRequest(
    `${JSON.stringify(field)} is not a known field selector: only "metadata.name", "metadata.namespace"`,
  )
}
