import { pacedMap } from '../../../framework/async/awaitable.ts'
import type { ResourceRef } from '../../../framework/contract/backend.ts'
import type { ClusterName } from '../../../framework/meta/object.ts'
import { bindingFinalizer } from '../../../kcp/annotations.ts'
import type { APIBinding, BoundAPIResource } from '../../../kcp/apis.ts'
import { type ConditionState, isFalse, isTrue, setConditions } from '../../../kcp/conditions.ts'
import type { PathReference } from '../../../kcp/references.ts'
import { resources } from '../../../kcp/resources.ts'
import { isVirtual } from '../../apis/served.ts'
import { isBeingDeleted, type Stored } from '../../bindings/content.ts'
import { holderOf } from '../../bindings/holders.ts'
import { isIdentity } from '../../cache/segments.ts'
import { clusterScoped, updateObject, updateStatus, withoutFinalizer } from '../client.ts'
import { type Controller, createController, keyOf, parseKey } from '../controller.ts'
import type { KcpControllerDeps } from '../host.ts'
import {
  type ContentDeletion,
  deleteContent,
  failureText,
  isEmpty,
  recheck,
  remainingFinalizers,
  remainingInstances,
} from '../remaining.ts'

/**
 * Deletes the objects of bound resources before their binding is removed (kcp
 * `pkg/reconciler/apis/apibindingdeletion`).
 */
export function apiBindingDeletionController(deps: KcpControllerDeps): Controller {
  const bindings = deps.informers.for(resources.apiBindings)
  const reconcile = async (key: string): Promise<number | undefined> => {
    const { cluster, name } = parseKey(key)
    const binding = bindings.get(cluster, '', name)?.object as APIBinding | undefined
    if (binding?.metadata.deletionTimestamp === undefined) return undefined
    if (!binding.metadata.finalizers?.includes(bindingFinalizer)) return undefined
    const left = bindings.list(cluster).filter(item => item.key.name !== name && !isBeingDeleted(item))
    const others = await pacedMap(left, item => holderOf(item).exported)
    const own = (binding.status?.boundResources ?? []).filter(
      bound => !isVirtual(bound) && !isAdopted(deps, cluster, bound, others),
    )
    const refs = servedRefs(deps, cluster, own)
    const remaining = await deleteContent(deps.client, cluster, refs)
    if (remaining.isUnfinished) return 0
    await report(deps, cluster, name, remainingCondition(binding, remaining))
    const [failure] = remaining.failures
    if (failure !== undefined) throw failure
    if (remaining.instances.size > 0) return recheck
    // After that write the cache has all objects that were stored before the binding was terminating.
    if (!(await isEmpty(deps.client, cluster, refs))) return 0
    await removeFinalizer(deps, cluster, name)
    return undefined
  }
  const deleting = bindings.index(item => (isBeingDeleted(item) ? [item.key.cluster] : []))
  const boundBy = ({ resource, item: { cluster } }: Stored): readonly string[] =>
    isIdentity(resource.segment) ? deleting(cluster).map(keyOf) : []
  return createController(
    {
      name: 'apibinding-deletion',
      reconcile,
      terminating: { content: deps.content, keys: boundBy },
      sources: [{ informer: bindings, keys: ({ item }) => (isBeingDeleted(item) ? [keyOf(item)] : []) }],
    },
    deps.log,
  )
}

/**
 * Whether another binding serves the same resource with the same schema and identity: the objects then belong to
 * that binding.
 */
function isAdopted(
  { directory, informers }: KcpControllerDeps,
  cluster: ClusterName,
  bound: BoundAPIResource,
  others: readonly PathReference[],
): boolean {
  return others.some(reference => {
    const home = directory.referencedCluster(reference, cluster)
    const exported = home ? directory.apiExport(home, reference.name) : undefined
    if (!home || exported?.status?.identityHash !== bound.schema.identityHash) return false
    const resource = exported.spec?.resources?.find(
      each => each.name === bound.resource && each.group === bound.group,
    )
    const schema = resource && informers.for(resources.apiResourceSchemas).get(home, '', resource.schema)
    return schema?.meta.uid === bound.schema.UID
  })
}

const deletionFailed = 'ResourceDeletionFailed'

/** One served version of each bound resource: one in which objects are stored, if it is served. */
const servedRefs = (
  { apis }: KcpControllerDeps,
  cluster: ClusterName,
  bound: readonly BoundAPIResource[],
): readonly ResourceRef[] =>
  bound.flatMap(({ group, resource, schema, storageVersions = [] }) => {
    const all = (apis(cluster)?.resources ?? []).filter(
      each => each.group === group && each.names.plural === resource,
    )
    const served = all.find(({ version }) => storageVersions.includes(version)) ?? all[0]
    return served === undefined
      ? []
      : [{ group, version: served.version, resource, identity: schema.identityHash }]
  })

/** While the deletion fails, the condition stays: each write leads to another attempt at once, and webhooks choose the message. */
function remainingCondition(binding: APIBinding, remaining: ContentDeletion): ConditionState {
  const type = 'BindingResourceDeleteSuccess'
  if (remaining.failures.length > 0) {
    const known = binding.status?.conditions?.find(condition => condition.type === type)
    const message = known?.reason === deletionFailed ? known.message : failureText(remaining)
    return isFalse(type, 'Error', deletionFailed, message ?? '')
  }
  if (remaining.instances.size === 0) return isTrue(type)
  const finalizers = remainingFinalizers(remaining, 'workspace')
  return finalizers === ''
    ? isFalse(type, 'Error', 'SomeResourcesRemain', remainingInstances(remaining))
    : isFalse(type, 'Error', 'SomeFinalizersRemain', finalizers)
}

const report = (
  { client }: KcpControllerDeps,
  cluster: ClusterName,
  name: string,
  state: ConditionState,
): Promise<unknown> =>
  updateStatus<APIBinding>(client, resources.apiBindings, clusterScoped(cluster, name), current => ({
    ...current,
    status: { ...current.status, conditions: setConditions(current.status?.conditions, [state]) },
  }))

const removeFinalizer = (
  { client }: KcpControllerDeps,
  cluster: ClusterName,
  name: string,
): Promise<unknown> =>
  updateObject<APIBinding>(client, resources.apiBindings, clusterScoped(cluster, name), current =>
    withoutFinalizer(current, bindingFinalizer),
  )
