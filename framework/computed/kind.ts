import type { ApiResource } from '../contract/apis.ts'
import type { TableColumn } from '../contract/schema.ts'
import type { ResourceStorage } from '../contract/storage.ts'
import { since } from '../formats/humanduration.ts'
import { type FieldError, invalid } from '../meta/errors.ts'
import type { KubeObject } from '../meta/object.ts'
import type { Params } from '../request/path.ts'
import type { Verb } from '../request/requestinfo.ts'

/** A cell of a Table. */
type Cell = string | number | boolean | null | undefined

/** A kind that a view defines itself, because no logical cluster serves it. */
export interface OwnKind {
  /** Such as `example.com`. */
  readonly group: string
  readonly version: string
  /** The plural name in URLs: `counts`. */
  readonly resource: string
  readonly kind: string
  /** Default: false. */
  readonly namespaced?: boolean
  readonly shortNames?: readonly string[]
  /** Printer columns between `Name` and `Age`, by their names: `{ Ready: ({ status }) => … }`. */
  readonly columns?: Readonly<Record<string, (object: KubeObject) => Cell>>
  /** Field selectors besides `metadata.name` and `metadata.namespace`. */
  readonly selectableFields?: Readonly<Record<string, (object: KubeObject) => string>>
  /** The OpenAPI v3 schema of the kind. It is published; `validate` checks objects. Default: an object with any fields. */
  readonly schema?: Readonly<Record<string, unknown>>
  /** The errors of an object before it is created or updated: 422. Default: none. */
  readonly validate?: (object: KubeObject) => readonly FieldError[]
}

const anything = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }

/**
 * A resource of a kind that the view defines:
 *
 * ```ts
 * const kind = { group: 'example.com', version: 'v1', resource: 'counts', kind: 'Count' }
 * const counts = new ObjectMap(kind)
 * const apis = apiSetOf([resourceOf(kind, storageOf(counts))])
 * ```
 *
 * `verbs`: default get, list and watch.
 */
export function resourceOf<P extends Params>(
  kind: OwnKind,
  storage: ResourceStorage<P>,
  verbs: readonly Verb[] = ['get', 'list', 'watch'],
): ApiResource<P> {
  const { group, version, shortNames, namespaced = false, selectableFields, schema = anything } = kind
  return {
    group,
    version,
    namespaced,
    verbs,
    storage: validating(kind, storage),
    names: {
      plural: kind.resource,
      singular: kind.kind.toLowerCase(),
      kind: kind.kind,
      listKind: `${kind.kind}List`,
      ...(shortNames && { shortNames }),
    },
    schema: {
      decode: object => ({ object, unknown: [] }),
      validate: object => kind.validate?.(object) ?? [],
    },
    columns: columnsOf(kind),
    ...(selectableFields && { selectableFields }),
    subresources: [],
    custom: true,
    unconditionalUpdate: false,
    createOnUpdate: false,
    openapi: schema,
  }
}

/** The storage with the validation of the kind before each write. */
function validating<P extends Params>(
  { kind, group, validate }: OwnKind,
  storage: ResourceStorage<P>,
): ResourceStorage<P> {
  if (validate === undefined) return storage
  const valid = (object: KubeObject): KubeObject => {
    const errors = validate(object)
    if (errors.length > 0) throw invalid(kind, group, object.metadata.name ?? '', errors)
    return object
  }
  return {
    ...storage,
    create: async (ctx, key, object, options) => storage.create(ctx, key, valid(object), options),
    update: (ctx, key, change, options) =>
      storage.update(ctx, key, async current => valid(await change(current)), options),
  }
}

function columnsOf({ columns = {} }: OwnKind): readonly TableColumn[] {
  const own = Object.entries(columns).map(([name, cell]) =>
    column(name, 'string', object => cell(object) ?? null),
  )
  return [...own, column('Age', 'date', ({ metadata }, now) => since(metadata.creationTimestamp, now))]
}

const column = (name: string, type: string, cell: TableColumn['cell']): TableColumn => ({
  name,
  type,
  cell,
  format: '',
  description: '',
  priority: 0,
})
