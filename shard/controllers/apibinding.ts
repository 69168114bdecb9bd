import { isDeepStrictEqual } from 'node:util'
import type { Informer } from '../../framework/informer.ts'
import type { Item } from '../../framework/item.ts'
import { type ClusterName, groupResource } from '../../framework/object.ts'
import { exportHash, exportLabel } from '../../openapi/labels.ts'
import { needsNoIdentity } from '../admission/kcp/builtinclaims.ts'
import { extraAnnotationPrefix } from '../metadata.ts'
import { type BindingWorld, bindingStatus } from './bindingstatus.ts'
import { clusterScoped, updateObject, updateStatus } from './client.ts'
import { type Controller, createController, keyOf, parseKey } from './controller.ts'
import type { KcpControllerDeps } from './deps.ts'
import { createLocks, type Locks } from './locks.ts'
import { bindingHolder, type Holder, resourceName, type TakenNames } from './namingconflicts.ts'
import { type APIBinding, type APIExport, type APIResourceSchema, resources } from './objects.ts'

/** Where bindings look. */
interface Sources {
  readonly bindings: Informer
  readonly schemas: Informer
  readonly crds: Informer
  readonly bySchemaUid: (uid: string) => readonly Item[]
  readonly byIdentity: (identity: string) => readonly Item[]
}

/** Binds exports, and keeps bindings at what their exports say (chapter 20, sections 5.6 and 5.7). */
export function apiBindingController(deps: KcpControllerDeps): Controller {
  const { client, informers } = deps
  const exports = informers.for(resources.apiExports)
  const sources = sourcesOf(deps)
  const { bindings, schemas, crds } = sources
  const locks = createLocks()
  const byExport = bindings.index(({ meta }) => {
    const label = meta.labels[exportLabel]
    return label === undefined ? [] : [label]
  })
  const ofExport = (cluster: ClusterName, name: string): readonly string[] =>
    byExport(exportHash({ cluster, name })).map(keyOf)
  const reconcile = async (key: string): Promise<undefined> => {
    const { cluster, name } = parseKey(key)
    const binding = bindings.get(cluster, '', name)?.object as APIBinding | undefined
    if (binding === undefined || binding.metadata.deletionTimestamp !== undefined) return
    const exported = exportOf(deps, cluster, binding)
    await copyAnnotations(deps, cluster, binding, exported?.object)
    try {
      await updateStatus<APIBinding>(
        client,
        resources.apiBindings,
        clusterScoped(cluster, name),
        current => ({
          ...current,
          status: bindingStatus(current, worldOf(sources, locks, current, { cluster, exported })),
        }),
      )
    } finally {
      locks.release(cluster, name)
    }
  }
  const neighbours = (cluster: ClusterName): readonly string[] => bindings.list(cluster).map(keyOf)
  return createController(
    {
      name: 'apibinding',
      reconcile,
      sources: [
        {
          informer: bindings,
          keys: ({ type, item }) => (type === 'DELETED' ? neighbours(item.key.cluster) : [keyOf(item)]),
        },
        { informer: exports, keys: ({ item: { key } }) => ofExport(key.cluster, key.name) },
        {
          informer: schemas,
          keys: ({ item: { key } }) =>
            exports
              .list(key.cluster)
              .filter(item => exportsSchema(item, key.name))
              .flatMap(item => ofExport(key.cluster, item.key.name)),
        },
        { informer: crds, keys: ({ item }) => neighbours(item.key.cluster) },
      ],
    },
    deps.log,
  )
}

function sourcesOf({ informers }: KcpControllerDeps): Sources {
  const schemas = informers.for(resources.apiResourceSchemas)
  const exports = informers.for(resources.apiExports)
  return {
    bindings: informers.for(resources.apiBindings),
    schemas,
    crds: informers.for(resources.crds),
    bySchemaUid: schemas.index(({ meta }) => [meta.uid]),
    byIdentity: exports.index(({ object }) => {
      const identity = (object as APIExport).status?.identityHash
      return identity === undefined ? [] : [identity]
    }),
  }
}

const exportsSchema = ({ object }: Item, schema: string): boolean =>
  (object as APIExport).spec?.resources?.some(resource => resource.schema === schema) ?? false

function exportOf(
  { directory }: KcpControllerDeps,
  from: ClusterName,
  { spec }: APIBinding,
): BindingWorld['exported'] {
  const reference = spec?.reference?.export
  const cluster = reference && directory.clusterOf(reference, from)
  const object = reference && cluster && directory.apiExport(cluster, reference.name)
  return cluster && object ? { cluster, object } : undefined
}

function worldOf(
  sources: Sources,
  locks: Locks,
  binding: APIBinding,
  { cluster, exported }: Pick<BindingWorld, 'cluster' | 'exported'>,
): BindingWorld {
  const name = binding.metadata.name ?? ''
  const others = sources.bindings
    .list(cluster)
    .filter(item => item.key.name !== name)
    .map(item => item.object as APIBinding)
  const definitions = sources.crds.list(cluster).map(item => item.object as APIResourceSchema)
  const held = heldResources(others, definitions)
  const own = new Set((binding.status?.boundResources ?? []).map(resourceName))
  return {
    cluster,
    exported,
    schema: (from, schema) => sources.schemas.get(from, '', schema)?.object as APIResourceSchema,
    take(resource) {
      const holder = own.has(resource) ? undefined : held.get(resource)
      if (holder !== undefined) return holder
      const first = locks.take(cluster, resource, name)
      return first === name ? undefined : { binding: first, crd: false }
    },
    taken: takenNames(sources, others, definitions),
    isServed: claim =>
      needsNoIdentity(claim.group ?? '', claim.resource) ||
      sources.byIdentity(claim.identityHash ?? '').some(item => exportsResource(item, claim)),
  }
}

const exportsResource = (
  { object }: Item,
  { group = '', resource }: { readonly group?: string; readonly resource: string },
): boolean =>
  (object as APIExport).spec?.resources?.some(each => each.name === resource && each.group === group) ?? false

/** Who has what in a cluster: bindings what they bound, definitions what they define. */
function heldResources(
  bindings: readonly APIBinding[],
  definitions: readonly APIResourceSchema[],
): ReadonlyMap<string, Holder> {
  const held = new Map<string, Holder>()
  for (const { spec } of definitions)
    held.set(groupResource(spec.group, spec.names.plural), { binding: '', crd: true })
  for (const { metadata, status } of bindings)
    for (const bound of status?.boundResources ?? [])
      held.set(resourceName(bound), { binding: metadata.name ?? '', crd: false })
  return held
}

function takenNames(
  { bySchemaUid }: Sources,
  bindings: readonly APIBinding[],
  definitions: readonly APIResourceSchema[],
): readonly TakenNames[] {
  const bound = bindings.flatMap(({ metadata, spec, status }) =>
    (status?.boundResources ?? []).flatMap(({ schema }) => {
      const known = bySchemaUid(schema.UID)[0]?.object as APIResourceSchema | undefined
      const by = bindingHolder(metadata.name ?? '', spec?.reference?.export)
      return known === undefined ? [] : [{ group: known.spec.group, names: known.spec.names, by }]
    }),
  )
  const defined = definitions.map(({ metadata, spec }) => ({
    group: spec.group,
    names: spec.names,
    by: `CustomResourceDefinition "${metadata.name ?? ''}"`,
  }))
  return [...bound, ...defined]
}

/** Annotations of an export that are meant for its bindings follow it (chapter 20, section 5.3). */
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
