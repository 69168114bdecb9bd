import type { ApiResource, KubeObject, Selection, TableColumn } from '../../framework/index.ts'
import { isKeyField } from '../../framework/selectors/selectors.ts'
import { logicalClusterOf } from '../../kcp/index.ts'

/** A resource as one logical cluster serves it. */
export interface Definition {
  readonly cluster: string
  readonly resource: ApiResource
}

/** The definition that a logical cluster has of the resource of an object; undefined if it does not serve it. */
export type DefinitionOf = (cluster: string) => ApiResource | undefined

/**
 * Logical clusters in the order of their creation, then of their names: a workspace that another tenant makes later is
 * behind those that the user knows. `createdAt` returns RFC 3339 texts.
 */
export function oldestFirst(
  names: readonly string[],
  createdAt: (name: string) => string | undefined,
): readonly string[] {
  const keyed = names.map(name => ({ name, at: createdAt(name) ?? '~' }))
  return keyed.sort((a, b) => compare(a.at, b.at) || compare(a.name, b.name)).map(({ name }) => name)
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/** Columns of one definition besides those of the first one, and of a table, where definitions differ. */
const most = { ofOne: 16, together: 64 }

type Combined = Pick<ApiResource, 'namespaced' | 'verbs' | 'columns' | 'selectableFields'>

/**
 * What several definitions of a resource have together. No tenant takes anything from another one: a scope, a verb, a column and a field of
 * one definition is there whatever the others have, and the cells of an object are those of its own definition.
 */
export function combinedOf(definitions: readonly ApiResource[], of: DefinitionOf): Combined {
  const fields = Object.assign({}, ...[...definitions].reverse().map(each => each.selectableFields))
  return {
    namespaced: definitions.some(({ namespaced }) => namespaced),
    verbs: (['list', 'watch'] as const).filter(verb => definitions.some(({ verbs }) => verbs.includes(verb))),
    columns: columnsOf(definitions).map(column => withOwnCells(column, of)),
    ...(Object.keys(fields).length > 0 && { selectableFields: fields }),
  }
}

function columnsOf(definitions: readonly ApiResource[]): readonly TableColumn[] {
  const found = new Map<string, TableColumn>()
  const all = new Set(definitions.map(({ columns }) => columns))
  for (const columns of all) {
    const kept = all.size === 1 ? columns : columns.slice(0, most.ofOne)
    for (const column of kept) {
      const isFull = all.size > 1 && found.size >= most.together
      if (!found.has(idOf(column)) && !isFull) found.set(idOf(column), column)
    }
  }
  return [...found.values()]
}

const idOf = ({ name, type }: TableColumn): string => `${type}/${name}`

/** The column with the cells of the definition of each object. Other definitions may have a column with its name. */
function withOwnCells(column: TableColumn, of: DefinitionOf): TableColumn {
  const id = idOf(column)
  const ownOf = (object: KubeObject): TableColumn | undefined => {
    const own = of(logicalClusterOf(object))
    return own && byId(own.columns).get(id)
  }
  return { ...column, ofMetadata: false, cell: (object, now) => ownOf(object)?.cell(object, now) ?? null }
}

const indexes = new WeakMap<readonly TableColumn[], ReadonlyMap<string, TableColumn>>()

/** The columns of a definition; the first one with an ID. Computed once. */
function byId(columns: readonly TableColumn[]): ReadonlyMap<string, TableColumn> {
  const known = indexes.get(columns)
  if (known !== undefined) return known
  const made = new Map(columns.toReversed().map(column => [idOf(column), column]))
  indexes.set(columns, made)
  return made
}

/** Why a query has no object of this definition; undefined if it may have some. */
export function excluded(
  { selectableFields = {}, namespaced, names }: ApiResource,
  { namespace = '', fields = { requirements: [] } }: Pick<Selection, 'namespace' | 'fields'>,
): string | undefined {
  if (namespace !== '' && !namespaced) return `${names.plural} without namespaces`
  const unknown = fields.requirements.find(
    requirement => !isKeyField(requirement) && !Object.hasOwn(selectableFields, requirement.field),
  )
  return unknown && `the field selector ${unknown.field} is not supported`
}
