import type { TableColumn } from '../../framework/contract/schema.ts'
import type { KubeObject } from '../../framework/meta/object.ts'
import type { PrinterColumn } from './definition.ts'

type Cell = TableColumn['cell']

/** A computed column. A column with `priority` 1 is shown with `-o wide` only. */
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

/** The Age column of a CRD, without a description. */
export const crdAge: PrinterColumn = { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' }
export const age: PrinterColumn = { ...crdAge, description: 'Time since the object was created.' }

/** The column of kinds without a printer (rules.md 7.56). */
export const createdAt: TableColumn = computed(
  ['Created At', 'date', 'Time when the object was created.'],
  object => object.metadata.creationTimestamp ?? null,
)

/** The total number of entries of lists and maps; absent ones have none. */
export function sizeOf(...collections: readonly unknown[]): number {
  const sizes = collections.map(c => (typeof c === 'object' && c !== null ? Object.keys(c).length : 0))
  return sizes.reduce((sum, size) => sum + size, 0)
}

/** A value as an object; {} for other values. */
export function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}
export const itemsOf = (value: unknown): readonly Readonly<Record<string, unknown>>[] =>
  Array.isArray(value) ? value.map(fieldsOf) : []
export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')
export const specOf = (object: KubeObject): Readonly<Record<string, unknown>> => fieldsOf(object.spec)
