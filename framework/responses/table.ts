import { type Item, initialEventsEnd } from '../contract/item.ts'
import type { TableColumn } from '../contract/schema.ts'
import { badRequest } from '../meta/errors.ts'
import { partialBytes } from './partial.ts'

/** What the rows of a Table carry besides cells (chapter 40, rule 1.28). */
export type IncludeObject = 'None' | 'Metadata' | 'Object'

/** What a Table is made with. */
export interface TableForm {
  readonly version: string
  /** Printer columns after `Name`. */
  readonly columns: readonly TableColumn[]
  readonly include: IncludeObject
}

/** Throws 400 for another value of the query's `includeObject`. */
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

/** `"columnDefinitions":[…]`, with `Name` in front (chapter 40, rule 7.51). */
export function columnDefinitions({ columns }: TableForm): string {
  const definitions = columns.map(({ name, type, format, description, priority }) => ({
    name,
    type,
    format,
    description,
    priority,
  }))
  return `"columnDefinitions":${JSON.stringify([nameColumn, ...definitions])}`
}

/** One row as JSON: `{"cells":[…],"object":{…}}`; null for no object. */
export function rowBytes(item: Item, form: TableForm, now: Date): Buffer {
  const { name } = item.meta
  const cells = [name, ...form.columns.map(column => column.cell(item.object, now))]
  const object = rowObject(item, form)
  const head = `{"cells":${JSON.stringify(cells)}`
  if (object === undefined) return Buffer.from(`${head},"object":null}`)
  return Buffer.concat([Buffer.from(`${head},"object":`), object, closing])
}

/** The bookmark that ends initial events is told by its annotation: it always has its metadata (chapter 40, rule 4.61). */
function rowObject(item: Item, { include, version }: TableForm): Buffer | undefined {
  if (include === 'Object') return item.bytes
  const isEnd = include === 'None' && Object.hasOwn(item.meta.annotations, initialEventsEnd)
  return include === 'Metadata' || isEnd ? partialBytes(item, version) : undefined
}

const closing = Buffer.from('}')
