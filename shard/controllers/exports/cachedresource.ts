import type { ApiResource } from '../../../framework/contract/apis.ts'
import type { ResourceRef } from '../../../framework/contract/backend.ts'
import type { Informer, Informers } from '../../../framework/contract/informer.ts'
import type { ItemEvent } from '../../../framework/contract/item.ts'
import { type ClusterName, groupResource } from '../../../framework/meta/object.ts'
import { matchesLabels } from '../../../framework/selectors/selectors.ts'
import {
  cachedResourceFinalizer,
  isCopy,
  resourceKindAnnotation,
  resourceScopeAnnotation,
} from '../../../kcp/annotations.ts'
import type { APIBinding } from '../../../kcp/apis.ts'
import type { ClusterCachedResource } from '../../../kcp/cache.ts'
import { type ConditionState, isFalse, isTrue, setConditions } from '../../../kcp/conditions.ts'
import { resources } from '../../../kcp/resources.ts'
import { requirementsOf } from '../../../kcp/selector.ts'
import { objectOnce } from '../../cache/item.ts'
import { clusterScoped, updateObject, updateStatus, withoutFinalizer } from '../client.ts'
import {
  type Controller,
  type ControllerDefinition,
  createController,
  keyOf,
  parseKey,
} from '../controller.ts'
import type { KcpControllerDeps } from '../host.ts'
import { giveIdentity, identityState, namesIdentity, usersOfSecrets } from '../identity.ts'

/** The copies of published objects in a cache server. */
export interface CountedCopies extends Pick<Informer, 'onEvent'> {
  /** `resource` has the identity of the ClusterCachedResource. */
  countOf(cluster: ClusterName, resource: ResourceRef): number
}

interface CachedResourceDeps extends KcpControllerDeps {
  /** Absent without a cache server: the objects are read where they are stored. */
  readonly copies?: CountedCopies
}

/**
 * Publishes resources with ClusterCachedResources: creates their identity, and reports the published resource and the
 * number of objects.
 */
export function cachedResourceController(deps: CachedResourceDeps): Controller {
  const followed = followResources(deps.informers)
  const cached = deps.informers.for(resources.clusterCachedResources)
  const reconcile = async (key: string): Promise<undefined> => {
    const { cluster, name } = parseKey(key)
    const current = cached.get(cluster, '', name)?.object as ClusterCachedResource | undefined
    if (current === undefined || isCopy(current)) return
    if (current.metadata.deletionTimestamp !== undefined) return release(deps, cluster, name)
    const published = servedOf(deps, cluster, current)
    if (published === undefined) return
    await prepare(deps, cluster, name, published)
    if (!namesIdentity(current))
      await giveIdentity(deps.client, resources.clusterCachedResources, cluster, name)
    else await report(deps, followed, { cluster, name, published })
  }
  return createController(
    { name: 'clustercachedresource', reconcile, sources: changesOf(deps, followed) },
    deps.log,
  )
}

/**
 * Changes of the object, its identity secret, the published objects, and the definition of the published resource.
 */
function changesOf(
  { informers, copies }: CachedResourceDeps,
  followed: FollowedResources,
): ControllerDefinition['sources'] {
  const cached = informers.for(resources.clusterCachedResources)
  const usersOf = usersOfSecrets(cached)
  const inCluster: ControllerDefinition['sources'][number]['keys'] = ({ item }) =>
    cached.list(item.key.cluster).map(keyOf)
  return [
    { informer: cached, keys: ({ item }) => [keyOf(item)] },
    { informer: informers.for(resources.secrets), keys: ({ item }) => usersOf(item) },
    { informer: informers.for(resources.crds), keys: inCluster },
    { informer: informers.for(resources.apiBindings), keys: inCluster },
    { informer: followed, keys: inCluster },
    ...(copies === undefined ? [] : [{ informer: copies, keys: inCluster }]),
  ]
}

function servedOf(
  { apis }: KcpControllerDeps,
  cluster: ClusterName,
  { spec }: ClusterCachedResource,
): ApiResource | undefined {
  return apis(cluster)?.find(spec.group ?? '', spec.version ?? '', spec.resource)
}

/** kcp's finalizer, and the annotations that kcp's cache server reads. */
async function prepare(
  { client }: KcpControllerDeps,
  cluster: ClusterName,
  name: string,
  { names, namespaced }: ApiResource,
): Promise<void> {
  const target = clusterScoped(cluster, name)
  await updateObject<ClusterCachedResource>(client, resources.clusterCachedResources, target, current => ({
    ...current,
    metadata: {
      ...current.metadata,
      annotations: {
        ...current.metadata.annotations,
        [resourceKindAnnotation]: names.kind,
        [resourceScopeAnnotation]: namespaced ? 'Namespaced' : 'Cluster',
      },
      finalizers: [...new Set([...(current.metadata.finalizers ?? []), cachedResourceFinalizer])],
    },
  }))
}

interface Publication {
  readonly cluster: ClusterName
  readonly name: string
  readonly published: ApiResource
}

async function report(
  deps: CachedResourceDeps,
  followed: FollowedResources,
  { cluster, name, published }: Publication,
): Promise<void> {
  const { client, informers, copies } = deps
  const target = clusterScoped(cluster, name)
  const { group, version, names } = published
  const source = sourceOf(deps, cluster, published)
  followed.follow(source)
  const secrets = informers.for(resources.secrets)
  await updateStatus<ClusterCachedResource>(client, resources.clusterCachedResources, target, current => {
    const { hash, condition } = identityState(secrets, cluster, current)
    const states = [condition, ...(condition.status === 'True' ? publishing(published) : [])]
    const isReady = states.every(({ status }) => status === 'True')
    const local = isReady ? countOf(deps, cluster, source, current) : 0
    const copied = { group, version, resource: names.plural, identity: hash ?? '' }
    const cache = copies === undefined ? local : copies.countOf(cluster, copied)
    return {
      ...current,
      status: {
        ...current.status,
        ...(hash && { identityHash: hash }),
        phase: isReady ? 'Ready' : 'Initializing',
        resourceCounts: { cache, local },
        conditions: setConditions(current.status?.conditions, states),
      },
    }
  })
}

function publishing({ group, names, namespaced }: ApiResource): readonly ConditionState[] {
  const message = `Resource ${groupResource(group, names.plural)} is not cluster-scoped`
  return namespaced
    ? [isFalse('ResourceValid', 'Error', 'ResourceNotClusterScoped', message)]
    : [isTrue('ReplicationStarted'), isTrue('ResourceValid')]
}

/** The stored resource: with the identity of the export when the resource is bound. */
function sourceOf(
  { informers }: KcpControllerDeps,
  cluster: ClusterName,
  { group, version, names }: ApiResource,
): ResourceRef {
  const source = { group, version, resource: names.plural }
  const identity = identityOfBound(informers, cluster, source)
  return { ...source, ...(identity && { identity }) }
}

/** The identity of the export from which a logical cluster has bound a resource; undefined for other resources. */
export const identityOfBound = (
  informers: Informers,
  cluster: ClusterName,
  { group, resource }: Pick<ResourceRef, 'group' | 'resource'>,
): string | undefined =>
  informers
    .for(resources.apiBindings)
    .list(cluster)
    .flatMap(item => (objectOnce(item) as APIBinding).status?.boundResources ?? [])
    .find(each => each.group === group && each.resource === resource)?.schema.identityHash

function countOf(
  { informers }: KcpControllerDeps,
  cluster: ClusterName,
  source: ResourceRef,
  { spec }: ClusterCachedResource,
): number {
  const items = informers.for(source).list(cluster)
  const selector = spec.labelSelector && requirementsOf(spec.labelSelector)
  return selector === undefined
    ? items.length
    : items.filter(({ meta }) => matchesLabels(selector, meta.labels)).length
}

/** Nothing was copied, so there is nothing to delete. */
async function release(
  { client }: KcpControllerDeps,
  cluster: ClusterName,
  name: string,
): Promise<undefined> {
  const target = clusterScoped(cluster, name)
  await updateObject<ClusterCachedResource>(client, resources.clusterCachedResources, target, current =>
    withoutFinalizer(current, cachedResourceFinalizer),
  )
}

/** Changes of resources that are first served while the controller runs. */
interface FollowedResources extends Pick<Informer, 'onEvent'> {
  /** Starts to follow a resource; it is followed as long as the controller runs. */
  follow(resource: ResourceRef): void
}

function followResources(informers: Informers): FollowedResources {
  const followed = new Set<Informer>()
  const handlers = new Set<(event: ItemEvent) => void>()
  const tell = (event: ItemEvent): void => {
    for (const handler of handlers) handler(event)
  }
  return {
    follow(resource) {
      const informer = informers.for(resource)
      if (followed.has(informer)) return
      followed.add(informer)
      informer.onEvent(tell)
    },
    onEvent(handler) {
      handlers.add(handler)
      return () => void handlers.delete(handler)
    },
  }
}
