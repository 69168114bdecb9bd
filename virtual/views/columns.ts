import { itemOf, type KubeObject, type TableColumn } from '../../framework/index.ts'
import { logicalClusterOf } from '../../kcp/index.ts'
import {
  type ClusterFacts,
  columnsOf,
  JsonPathError,
  jsonPath,
  requestAllowance,
  type ViewExpression,
} from '../../openapi/index.ts'
import type { FieldCompiler, Problems } from './problems.ts'
import type { ViewColumn } from './types.ts'

const nobody = { name: '', uid: '', groups: [], extra: {} }

/** What columns are made with. */
export interface ColumnParts {
  readonly compile: FieldCompiler
  readonly problems: Problems
  readonly factsOf: (cluster: string) => ClusterFacts
}

/** The columns of a View. Their cells are made of shown objects. */
export const columnsFor = (columns: readonly ViewColumn[], parts: ColumnParts): readonly TableColumn[] =>
  columns.flatMap((column, i) => {
    const field = `spec.columns[${i}]`
    return column.expression === undefined
      ? pathColumn(column, `${field}.jsonPath`, parts)
      : expressionColumn(column, `${field}.expression`, parts)
  })

function pathColumn(
  { name, type = 'string', jsonPath: path = '' }: ViewColumn,
  field: string,
  { problems }: ColumnParts,
): readonly TableColumn[] {
  try {
    jsonPath(path)
  } catch (error) {
    if (!(error instanceof JsonPathError)) throw error
    problems.add('expression', field, error.message)
    return []
  }
  return columnsOf([{ name, type, jsonPath: path }])
}

function expressionColumn(
  { name, type = 'string', expression: text }: ViewColumn,
  field: string,
  { compile, problems, factsOf }: ColumnParts,
): readonly TableColumn[] {
  const expression = compile(field, text, 'cell')
  if (expression === undefined) return []
  if (expression.reads.user) problems.add('expression', field, 'columns cannot depend on the user')
  const cell: TableColumn['cell'] = object => cellOf(expression, object, factsOf)
  return [{ name, type, format: '', description: 'A column of the View.', priority: 0, cell }]
}

/** Empty for objects for which the expression fails. */
function cellOf(
  expression: ViewExpression,
  object: KubeObject,
  factsOf: ColumnParts['factsOf'],
): ReturnType<TableColumn['cell']> {
  const cluster = logicalClusterOf(object)
  const subject = { item: itemOf(object, cluster), cluster: factsOf(cluster), user: nobody }
  const result = expression.evaluate(subject, { ...requestAllowance(), left: cellCost })
  if (!('value' in result)) return null
  return typeof result.value === 'bigint' ? String(result.value) : (result.value as string | number | boolean)
}

/** The limit of one cell, in units of CEL. */
const cellCost = 10_000
