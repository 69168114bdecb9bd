import type { TableColumn } from '../../framework/contract/schema.ts'
import type { KubeObject } from '../../framework/meta/object.ts'
import type { PrinterColumn } from './definition.ts'

type Cell = TableColumn['cell']

/** A column that is computed; `priority` 1 is shown by `-o wide` only. */
export const computed = (
  [name, type, description]: readonly [name: string, type: string, description: string],
  cell: Cell,
  priority = 0,
): TableColumn => ({ name, type, format: '', description, priority, cell })

export const path = (
  name: string,
  jsonPath: string,
  description?: string,
): PrinterColumn & { readonly type: 'string' } => ({
  name,
  type: 'string',
  jsonPath,
  ...(description === undefined ? {} : { description }),
})

/** The Age column of a CRD, without a description as CRDs have it. */
export const crdAge: PrinterColumn = { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' }
export const age: PrinterColumn = { ...crdAge, description: 'Time since the object was created.' }

/** Kinds without a printer of their own show when they were made, as a time (chapter 40, rule 7.56). */
export const createdAt: TableColumn = computed(
  ['Created At', 'date', 'Time when the object was created.'],
  object => object.metadata.creationTimestamp ?? null,
)

/** How many entries lists and maps have together; what is absent has none. */
export function sizeOf(...collections: readonly unknown[]): number {
  const sizes = collections.map(c => (typeof c === 'object' && c !== null ? Object.keys(c).length : 0))
  return sizes.reduce((sum, size) => sum + size, 0)
}

/** One level of an object of unknown shape: {} when it is not there. */
export function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}
export const itemsOf = (value: unknown): readonly Readonly<Record<string, unknown>>[] =>
  Array.isArray(value) ? value.map(fieldsOf) : []
export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')
export const specOf = (object: KubeObject): Readonly<Record<string, unknown>> => fieldsOf(object.spec)
