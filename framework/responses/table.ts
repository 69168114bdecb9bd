import { type Item, initialEventsEnd } from '../contract/item.ts'
import type { TableColumn } from '../contract/schema.ts'
import { badRequest } from '../meta/errors.ts'
import type { KubeObject } from '../meta/object.ts'
import { partialBytes } from './partial.ts'

/** The values of `includeObject`: the member `object` of a Table's rows (rules.md 1.28). */
export type IncludeObject = 'None' | 'Metadata' | 'Object'

/** The options of a Table. */
export interface TableForm {
  readonly version: string
  /** Printer columns after `Name`. */
  readonly columns: readonly TableColumn[]
  readonly include: IncludeObject
}

/** The query's `includeObject`. Throws 400 for other values. */
export function includeObjectOf(query: URLSearchParams): IncludeObject {
  const value = query.get('includeObject') ?? ''
  if (value === '') return 'Metadata'
  if (value === 'None' || value === 'Metadata' || value === 'Object') return value
  throw badRequest(
    `Unable to convert to Table as requested: includeObject: Invalid value: ${JSON.stringify(value)}: must be 'Metadata', 'Object', 'None', or empty`,
  )
}

const nameColumn = {
  name: 'Name',
  type: 'string',
  format: 'name',
  description:
    'Name must be unique within a namespace. Is required when creating resources, although some resources may allow a client to request the generation of an appropriate name automatically. Name is primarily intended for creation idempotence and configuration definition. Cannot be updated. More info: https://kubernetes.io/docs/concepts/overview/working-with-objects/names#names',
  priority: 0,
}

/** The kind has no column for the name: `Name` is put in front. */
const isNameless = (columns: readonly TableColumn[]): boolean => !columns.some(({ isName }) => isName)

/** `"columnDefinitions":[…]`, with `Name` first unless the kind has a column for the name (rules.md 7.51). */
export function columnDefinitions({ columns }: TableForm): string {
  const definitions = columns.map(({ name, type, format, description, priority }) => ({
    name,
    type,
    format,
    description,
    priority,
  }))
  return `"columnDefinitions":${JSON.stringify(isNameless(columns) ? [nameColumn, ...definitions] : definitions)}`
}

/** One row as JSON: `{"cells":[…],"object":{…}}`; `object` is null for `None`. */
export function rowBytes(item: Item, form: TableForm, now: Date): Buffer {
  const { columns } = form
  const read = readBy(columns, item)
  const own = columns.map(column => column.cell(read, now))
  const cells = isNameless(columns) ? [item.meta.name, ...own] : own
  const object = rowObject(item, form)
  const head = `{"cells":${JSON.stringify(cells)}`
  if (object === undefined) return Buffer.from(`${head},"object":null}`)
  return Buffer.concat([Buffer.from(`${head},"object":`), object, closing])
}

/** The parts of the object that the cells depend on: decoding a large object takes long. */
function readBy(columns: readonly TableColumn[], item: Item): KubeObject {
  if (!columns.every(({ ofMetadata }) => ofMetadata)) return item.object
  return { apiVersion: '', kind: '', metadata: item.metadata ?? item.object.metadata }
}

/** The bookmark at the end of initial events always has metadata, for its annotation (rules.md 4.61). */
function rowObject(item: Item, { include, version }: TableForm): Buffer | undefined {
  if (include === 'Object') return item.bytes
  const isEnd = include === 'None' && Object.hasOwn(item.meta.annotations, initialEventsEnd)
  return include === 'Metadata' || isEnd ? partialBytes(item, version) : undefined
}

const closing = Buffer.from('}')
