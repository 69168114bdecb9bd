import { isDeepStrictEqual } from 'node:util'
import type { Informer } from '../../../framework/contract/informer.ts'
import type { Item } from '../../../framework/contract/item.ts'
import type { ClusterName } from '../../../framework/meta/object.ts'
import { extraAnnotationPrefix, pathAnnotation } from '../../../kcp/annotations.ts'
import type { APIBinding, APIExport, APIResourceSchema } from '../../../kcp/apis.ts'
import { findCondition } from '../../../kcp/conditions.ts'
import { exportHash, exportLabel } from '../../../kcp/labels.ts'
import { resources } from '../../../kcp/resources.ts'
import { namesOf } from '../../bindings/namingconflicts.ts'
import { dependenciesOf, exportOf } from '../bindingdependencies.ts'
import { clusterScoped, updateObject, updateStatus } from '../client.ts'
import {
  type Controller,
  type ControllerDefinition,
  createController,
  keyFor,
  keyOf,
  parseKey,
} from '../controller.ts'
import type { KcpControllerDeps } from '../host.ts'
import { bindingStatus, namingConflicts } from './bindingstatus.ts'
import { keepSchemas } from './boundschemas.ts'

/** Binds exports, and updates bindings when their exports change (kcp `pkg/reconciler/apis/apibinding`). */
export function apiBindingController(deps: KcpControllerDeps): Controller {
  return createController(
    {
      name: 'apibinding',
      reconcile: key => bind(deps, key),
      sources: changesOf(deps),
    },
    deps.log,
  )
}

async function bind(deps: KcpControllerDeps, key: string): Promise<undefined> {
  const { sources, locks } = deps
  const { cluster, name } = parseKey(key)
  const binding = sources.bindings.get(cluster, '', name)?.object as APIBinding | undefined
  if (binding === undefined || binding.metadata.deletionTimestamp !== undefined) return
  const { exported, isAnother } = exportOf(deps.directory, cluster, binding)
  await copyAnnotations(deps, cluster, binding, exported?.object)
  if (exported !== undefined) await keepSchemas(deps, exported)
  const statusOf = (current: APIBinding) =>
    bindingStatus(current, dependenciesOf(deps, current, { cluster, exported, isAnother }))
  try {
    if (isDeepStrictEqual(statusOf(binding), binding.status)) return
    await updateStatus<APIBinding>(
      deps.client,
      resources.apiBindings,
      clusterScoped(cluster, name),
      current => ({ ...current, status: statusOf(current) }),
    )
  } finally {
    locks.release(cluster, name)
  }
}

/**
 * Changes that enqueue a binding: itself, its export, the schemas of the export, and bindings and definitions that use the same
 * names, or release those that it waits for.
 */
function changesOf({ informers, sources }: KcpControllerDeps): ControllerDefinition['sources'] {
  const { bindings, schemas, crds, names } = sources
  const exports = informers.for(resources.apiExports)
  const byExport = bindings.index(({ meta }) => {
    const label = meta.labels[exportLabel]
    return label === undefined ? [] : [label]
  })
  const atPathOf = bindingsAtPath(bindings)
  const bySchema = exports.index(({ key, object }) =>
    ((object as APIExport).spec?.resources ?? []).map(({ schema }) => keyFor(key.cluster, schema)),
  )
  const waiting = bindings.index(({ key, object }) =>
    hasConflict(object as APIBinding) ? [key.cluster] : [],
  )
  const ofExport = ({ key }: Item): readonly string[] => byExport(exportHash(key)).map(keyOf)
  const withNamesOf = ({ key: { cluster }, object }: Item): readonly string[] => {
    const { group, names: own } = (object as APIResourceSchema).spec
    return names.bindingsWith(cluster, group, namesOf(own)).map(keyOf)
  }
  const waitingIn = (cluster: ClusterName): readonly string[] => waiting(cluster).map(keyOf)
  return [
    {
      informer: bindings,
      keys: ({ type, item }) => (type === 'DELETED' ? waitingIn(item.key.cluster) : [keyOf(item)]),
    },
    {
      informer: exports,
      keys: ({ type, item }) => [...ofExport(item), ...(type === 'ADDED' ? atPathOf(item) : [])],
    },
    { informer: schemas, keys: ({ item }) => bySchema(keyOf(item)).flatMap(ofExport) },
    { informer: crds, keys: ({ item }) => [...waitingIn(item.key.cluster), ...withNamesOf(item)] },
  ]
}

/** The bindings whose reference leads to an export by its path; they may be bound to another one that was there before. */
function bindingsAtPath(bindings: Informer): (exported: Item) => readonly string[] {
  const byPath = bindings.index(({ object }) => {
    const { path, name } = (object as APIBinding).spec?.reference?.export ?? {}
    return path && name ? [keyFor(path, name)] : []
  })
  return ({ key, meta }) => byPath(keyFor(meta.annotations[pathAnnotation] ?? '', key.name)).map(keyOf)
}

/** Whether a binding waits for names that others have. */
const hasConflict = ({ status }: APIBinding): boolean =>
  findCondition(status?.conditions, 'BindingUpToDate')?.reason === namingConflicts

/** Annotations of an export with the prefix `extra.apis.kcp.io/` are copied to its bindings. */
async function copyAnnotations(
  { client }: KcpControllerDeps,
  cluster: ClusterName,
  binding: APIBinding,
  exported: APIExport | undefined,
): Promise<void> {
  if (exported === undefined) return
  const wanted = extras(exported.metadata.annotations)
  if (isDeepStrictEqual(extras(binding.metadata.annotations), wanted)) return
  await updateObject<APIBinding>(
    client,
    resources.apiBindings,
    clusterScoped(cluster, binding.metadata.name ?? ''),
    current => {
      const own = Object.entries(current.metadata.annotations ?? {}).filter(
        ([key]) => !key.startsWith(extraAnnotationPrefix),
      )
      const annotations = { ...Object.fromEntries(own), ...wanted }
      return { ...current, metadata: { ...current.metadata, annotations } }
    },
  )
}

const extras = (annotations: Readonly<Record<string, string>> = {}): Record<string, string> =>
  Object.fromEntries(Object.entries(annotations).filter(([key]) => key.startsWith(extraAnnotationPrefix)))
