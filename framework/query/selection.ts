import type { ApiResource } from '../contract/apis.ts'
import type { RequestContext } from '../contract/context.ts'
import type { Selection } from '../contract/storage.ts'
import { badRequest } from '../meta/errors.ts'
import type { ResourceRequest } from '../request/requestinfo.ts'
import { parseFieldSelector, parseLabelSelector } from '../selectors/parse.ts'
import { type FieldSelector, fieldEquals, type LabelSelector, requiredField } from '../selectors/selectors.ts'

type Selectable = Pick<ApiResource, 'selectableFields' | 'namespaced' | 'custom'>

/** The selectors of a list, watch or deletecollection. */
export interface Selectors {
  readonly labels: LabelSelector
  readonly fields: FieldSelector
}

/** Throws 400 for selectors that are malformed. */
export const parseSelectors = (query: URLSearchParams): Selectors => ({
  labels: parseLabelSelector(query.get('labelSelector') ?? ''),
  fields: parseFieldSelector(query.get('fieldSelector') ?? ''),
})

/** What a list, watch or deletecollection is about. Throws 400 for fields that cannot be selected by. */
export function selectionOf(
  ctx: RequestContext,
  info: ResourceRequest,
  selectors: Selectors,
  resource: Selectable,
): Selection {
  const { labels } = selectors
  const fields = namedFields(info.name, selectors.fields)
  for (const { field } of fields.requirements) refuseUnknownField(field, resource)
  return {
    cluster: ctx.cluster,
    ...(info.namespace === '' ? {} : { namespace: info.namespace }),
    ...(labels.requirements.length === 0 ? {} : { labels }),
    ...(fields.requirements.length === 0 ? {} : { fields }),
  }
}

/** A name in the path is a field selector (chapter 40, rule 1.12). */
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
