import { canonicalText } from '../framework/apply/canonicaltext.ts'
import type { TableColumn } from '../framework/contract/schema.ts'
import { since } from '../framework/formats/humanduration.ts'
import { atOnce, canonicalJson } from '../framework/json/json.ts'
import { formatNumber, lazily } from '../framework/json/values.ts'
import type { KubeObject } from '../framework/meta/object.ts'
import type { PrinterColumn } from './definitions/definition.ts'
import { type JsonPath, type JsonPathMeter, jsonPath, meterOf } from './jsonpath/jsonpath.ts'
import { JsonPathError } from './jsonpath/parser.ts'

type Cell = ReturnType<TableColumn['cell']>

/** The description of ObjectMeta.creationTimestamp in Kubernetes. */
const ageDescription =
  'CreationTimestamp is a timestamp representing the server time when this object was created. It is not guaranteed to be set in happens-before order across separate operations. Clients may not set this value. It is represented in RFC3339 form and is in UTC.\n\nPopulated by the system. Read-only. Null for lists. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata'

const ageColumn: PrinterColumn = {
  name: 'Age',
  type: 'date',
  jsonPath: '.metadata.creationTimestamp',
  description: ageDescription,
}

/**
 * Printer columns of a CRD as table columns (apiextensions-apiserver `tableconvertor`); Age if there are none. Those with a cell function
 * stay. One limit is for all cells of a row.
 */
export function columnsOf(columns: readonly (PrinterColumn | TableColumn)[] = []): readonly TableColumn[] {
  const meterFor = metersByRow()
  const all = columns.length === 0 ? [ageColumn] : columns
  return all.map(column => ('cell' in column ? column : tableColumn(column, meterFor)))
}

type MeterFor = (object: KubeObject, now: Date) => JsonPathMeter

/** One meter for all cells of a row, which are computed in order. */
function metersByRow(): MeterFor {
  let row: { object: KubeObject; now: Date; meter: JsonPathMeter } | undefined
  return (object, now) => {
    if (row?.object !== object || row.now !== now) row = { object, now, meter: meterOf() }
    return row.meter
  }
}

function tableColumn(column: PrinterColumn, meterFor: MeterFor): TableColumn {
  const { name, type, format = '', description = '', priority = 0 } = column
  const path = lazily(() => pathOrNothing(column.jsonPath))
  const noDescription = `Custom resource definition column (in JSONPath format): ${column.jsonPath}`
  return {
    name,
    type,
    format,
    description: description === '' ? noDescription : description,
    priority,
    ...(/^\.metadata\.\w+$/.test(column.jsonPath) && { ofMetadata: true }),
    cell: (object, now) => {
      const meter = meterFor(object, now)
      const [value] = path()(object, meter)
      return value === undefined ? null : cellOf({ type, value, now }, meter)
    },
  }
}

/** The cells of a stored column with an invalid path are empty. */
function pathOrNothing(expression: string): JsonPath {
  try {
    return jsonPath(expression)
  } catch (error) {
    if (error instanceof JsonPathError) return () => []
    throw error
  }
}

interface Selected {
  readonly type: PrinterColumn['type']
  readonly value: unknown
  readonly now: Date
}

function cellOf({ type, value, now }: Selected, meter: JsonPathMeter): Cell {
  const number = typeof value === 'bigint' ? Number(value) : value
  switch (type) {
    case 'string':
      return textWithin(meter, value)
    case 'integer':
      return typeof number === 'number' ? Math.trunc(number) : null
    case 'number':
      return typeof number === 'number' ? number : null
    case 'boolean':
      return typeof value === 'boolean' ? value : null
    case 'date':
      return typeof value === 'string' ? age(value, now) : null
    default:
      return null
  }
}

/** Go's JSON, which writes `<`, `>` and `&` as escapes. */
const escapes: Readonly<Record<string, string>> = { '<': '\\u003c', '>': '\\u003e', '&': '\\u0026' }

const escaped = (json: string): string => json.replace(/[<>&]/g, c => escapes[c] ?? c)

function textOf(value: unknown): string {
  if (typeof value === 'string') return value
  if (typeof value === 'number' || typeof value === 'bigint') return formatNumber(value)
  return escaped(canonicalJson(value))
}

/** The text of a cell; null when the cells of its row have more characters than the meter allows: each of many may have the object. */
function textWithin(meter: JsonPathMeter, value: unknown): string | null {
  if (meter.characters === 0) return null
  const json = isContainer(value) ? atOnce(canonicalText(value, meter.characters)) : textOf(value)
  const length = json?.length ?? Number.POSITIVE_INFINITY
  meter.characters = Math.max(0, meter.characters - length)
  if (json === undefined || meter.characters === 0) return null
  return isContainer(value) ? escaped(json) : json
}

const isContainer = (value: unknown): boolean => typeof value === 'object' && value !== null

const rfc3339 = /^(?:|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d))$/

const age = (value: string, now: Date): string => (rfc3339.test(value) ? since(value, now) : '<invalid>')

type Selectable = Readonly<Record<string, (object: KubeObject) => string>>

/** The `selectableFields` of a version (rules.md 7.7): a field such as `spec.color`, and its value as text, '' if absent. */
export const selectableFieldsOf = (fields: readonly { readonly jsonPath: string }[]): Selectable =>
  Object.fromEntries(
    fields.map(field => {
      const path = pathOrNothing(field.jsonPath)
      const read = (object: KubeObject): string => {
        const [value] = path(object)
        return value === undefined || value === null ? '' : textOf(value)
      }
      return [field.jsonPath.replace(/^\./, ''), read]
    }),
  )
