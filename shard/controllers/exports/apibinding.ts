import { isDeepStrictEqual } from 'node:util'
import type { Item, ItemEvent } from '../../../framework/contract/item.ts'
import type { ClusterName } from '../../../framework/meta/object.ts'
import { extraAnnotationPrefix } from '../../../kcp/annotations.ts'
import type { APIBinding, APIExport } from '../../../kcp/apis.ts'
import { exportHash, exportLabel } from '../../../kcp/labels.ts'
import { resources } from '../../../kcp/resources.ts'
import { dependenciesOf, exportOf } from '../bindingdependencies.ts'
import { clusterScoped, updateObject, updateStatus } from '../client.ts'
import {
  type Controller,
  type ControllerDefinition,
  createController,
  keyOf,
  parseKey,
} from '../controller.ts'
import type { KcpControllerDeps } from '../host.ts'
import { bindingStatus } from './bindingstatus.ts'
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
  const exported = exportOf(deps.directory, cluster, binding)
  await copyAnnotations(deps, cluster, binding, exported?.object)
  if (exported !== undefined) await keepSchemas(deps, exported)
  const statusOf = (current: APIBinding) =>
    bindingStatus(current, dependenciesOf(deps, current, { cluster, exported }))
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
 * Changes that enqueue a binding: itself, its export, the schemas of the export, and objects that use the same
 * names.
 */
function changesOf({ informers, sources }: KcpControllerDeps): ControllerDefinition['sources'] {
  const { bindings, schemas, crds } = sources
  const exports = informers.for(resources.apiExports)
  const byExport = bindings.index(({ meta }) => {
    const label = meta.labels[exportLabel]
    return label === undefined ? [] : [label]
  })
  const ofExport = (cluster: ClusterName, name: string): readonly string[] =>
    byExport(exportHash({ cluster, name })).map(keyOf)
  const neighbours = ({ item }: ItemEvent): readonly string[] => bindings.list(item.key.cluster).map(keyOf)
  const ofSchema = ({ item: { key } }: ItemEvent): readonly string[] =>
    exports
      .list(key.cluster)
      .filter(item => exportsSchema(item, key.name))
      .flatMap(item => ofExport(key.cluster, item.key.name))
  return [
    {
      informer: bindings,
      keys: event => (event.type === 'DELETED' ? neighbours(event) : [keyOf(event.item)]),
    },
    { informer: exports, keys: ({ item: { key } }) => ofExport(key.cluster, key.name) },
    { informer: schemas, keys: ofSchema },
    { informer: crds, keys: neighbours },
  ]
}

const exportsSchema = ({ object }: Item, schema: string): boolean =>
  (object as APIExport).spec?.resources?.some(resource => resource.schema === schema) ?? false

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
