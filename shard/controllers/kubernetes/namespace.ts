import type { ApiSet } from '../../../framework/contract/apis.ts'
import type { ResourceRef } from '../../../framework/contract/backend.ts'
import type { Informers } from '../../../framework/contract/informer.ts'
import type { ItemEvent } from '../../../framework/contract/item.ts'
import type { Logger } from '../../../framework/contract/log.ts'
import type { ClusterName, ClusterScope, KubeObject } from '../../../framework/meta/object.ts'
import { logicalClusterName } from '../../../kcp/logicalclusters.ts'
import { resources } from '../../../kcp/resources.ts'
import { type ClusterContent, isBeingDeleted, type Stored } from '../../bindings/content.ts'
import type { Manifest } from '../../manifests/manifest.ts'
import { type CrdCondition, withCondition } from '../../registry/crd.ts'
import {
  type ControllerClient,
  clusterScoped,
  createIfMissing,
  updateObject,
  updateStatus,
} from '../client.ts'
import { type Controller, createController, keyFor, keyOf, parseKey } from '../controller.ts'
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

interface NamespaceControllerDeps {
  readonly client: ControllerClient
  readonly content: ClusterContent
  readonly informers: Informers
  readonly apis: (cluster: ClusterScope) => ApiSet | undefined
  readonly log: Logger
}

interface Namespace extends KubeObject {
  readonly spec?: { readonly finalizers?: readonly string[] }
  readonly status?: { readonly phase?: string; readonly conditions?: readonly CrdCondition[] }
}

const finalizer = 'kubernetes'

/** Deletes the content of a terminating namespace, then removes its finalizer (`pkg/controller/namespace`). */
export function namespaceController(deps: NamespaceControllerDeps): Controller {
  const namespaces = deps.informers.for(resources.namespaces)
  const reconcile = async (key: string): Promise<number | undefined> => {
    const { cluster, name } = parseKey(key)
    const namespace = namespaces.get(cluster, '', name)?.object as Namespace | undefined
    if (namespace?.metadata.deletionTimestamp === undefined) return undefined
    if (!namespace.spec?.finalizers?.includes(finalizer)) return undefined
    const refs = contentOf(deps.apis(cluster) ?? deps.apis('*'))
    const client = within(deps.client, name)
    const remaining = await deleteContent(client, cluster, refs)
    if (remaining.isUnfinished) return 0
    const place = clusterScoped(cluster, name)
    await updateStatus<Namespace>(deps.client, resources.namespaces, place, n => reported(n, remaining))
    const [failure] = remaining.failures
    if (failure !== undefined) throw failure
    if (remaining.instances.size > 0) return recheck
    // After that write the cache has all objects that were stored before the namespace was terminating.
    if (!(await isEmpty(client, cluster, refs))) return 0
    const ref = { ...resources.namespaces, subresource: 'finalize' }
    await updateObject<Namespace>(deps.client, ref, place, current => ({
      ...current,
      spec: { finalizers: (current.spec?.finalizers ?? []).filter(f => f !== finalizer) },
    }))
    return undefined
  }
  const sources = [
    { informer: namespaces, keys: ({ item }: ItemEvent) => (isBeingDeleted(item) ? [keyOf(item)] : []) },
  ]
  const isTerminating = (cluster: string, name: string): boolean =>
    namespaces.get(cluster, '', name)?.object.metadata.deletionTimestamp !== undefined
  const around = ({ item: { cluster, namespace } }: Stored): readonly string[] =>
    namespace !== '' && isTerminating(cluster, namespace) ? [keyFor(cluster, namespace)] : []
  const terminating = { content: deps.content, keys: around }
  return createController({ name: 'namespace', reconcile, sources, terminating }, deps.log)
}

/** One ref for each stored namespaced resource; events of both groups are the same objects. */
function contentOf(apis: ApiSet | undefined): readonly ResourceRef[] {
  const found = new Map<string, ResourceRef>()
  for (const { group, version, names, namespaced, verbs } of apis?.resources ?? []) {
    const stored = namespaced && verbs.includes('delete') && verbs.includes('list')
    if (!stored || group === 'events.k8s.io' || found.has(`${group}/${names.plural}`)) continue
    found.set(`${group}/${names.plural}`, { group, version, resource: names.plural })
  }
  return [...found.values()]
}

/** The client, limited to one namespace. */
const within = (client: ControllerClient, namespace: string): ControllerClient => ({
  ...client,
  list: (resource, cluster) => client.list(resource, cluster, namespace),
})

function reported(namespace: Namespace, remaining: ContentDeletion): Namespace {
  const finalizers = remainingFinalizers(remaining, 'namespace')
  const states: readonly Omit<CrdCondition, 'lastTransitionTime'>[] = [
    remaining.instances.size === 0
      ? {
          type: 'NamespaceContentRemaining',
          status: 'False',
          reason: 'ContentRemoved',
          message: 'All content successfully removed',
        }
      : {
          type: 'NamespaceContentRemaining',
          status: 'True',
          reason: 'SomeResourcesRemain',
          message: remainingInstances(remaining),
        },
    finalizers === ''
      ? {
          type: 'NamespaceFinalizersRemaining',
          status: 'False',
          reason: 'ContentHasNoFinalizers',
          message: 'All content-preserving finalizers finished',
        }
      : {
          type: 'NamespaceFinalizersRemaining',
          status: 'True',
          reason: 'SomeFinalizersRemain',
          message: finalizers,
        },
  ]
  const known: readonly CrdCondition[] = namespace.status?.conditions ?? []
  const conditions = [...states, ...failed(remaining, known)].reduce(withCondition, known)
  return { ...namespace, status: { ...namespace.status, conditions } }
}

/** While it is True it stays: each write leads to another attempt at once, and webhooks choose the message. */
function failed(
  remaining: ContentDeletion,
  known: readonly CrdCondition[],
): readonly Omit<CrdCondition, 'lastTransitionTime'>[] {
  const type = 'NamespaceDeletionContentFailure'
  const status = known.find(condition => condition.type === type)?.status
  const { length } = remaining.failures
  if (length > 0 && status !== 'True') {
    const message = `Failed to delete all resource types, ${length} remaining: ${failureText(remaining)}`
    return [{ type, status: 'True', reason: 'ContentDeletionFailed', message }]
  }
  if (length > 0 || status !== 'True') return []
  const message = 'All content successfully deleted, may be waiting on finalization'
  return [{ type, status: 'False', reason: 'ContentDeleted', message }]
}

const account = 'default'
const bundle = 'kube-root-ca.crt'
const description =
  'Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the ' +
  'internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes clusters.'

/** Creates the ServiceAccount `default` and the ConfigMap `kube-root-ca.crt` in every namespace. */
export function namespaceDefaultsController(deps: KcpControllerDeps): Controller {
  const { informers, log } = deps
  const of = (event: ItemEvent, name: string): readonly string[] => {
    const { cluster, namespace, name: changed } = event.item.key
    return event.type !== 'ADDED' && changed === name ? [keyFor(cluster, namespace)] : []
  }
  return createController(
    {
      name: 'namespace-defaults',
      reconcile: key => ensureDefaults(deps, key),
      sources: [
        { informer: informers.for(resources.namespaces), keys: ({ item }) => [keyOf(item)] },
        { informer: informers.for(resources.serviceAccounts), keys: event => of(event, account) },
        { informer: informers.for(resources.configMaps), keys: event => of(event, bundle) },
      ],
    },
    log,
  )
}

async function ensureDefaults(
  { client, informers, rootCA }: KcpControllerDeps,
  key: string,
): Promise<undefined> {
  const { cluster, name: namespace } = parseKey(key)
  const current = informers.for(resources.namespaces).get(cluster, '', namespace)?.object
  if (current === undefined || isTerminating(current)) return
  // What is deleted with the logical cluster must not be created again: it could outlive it.
  const home = informers.for(resources.logicalClusters).get(cluster, '', logicalClusterName)?.object
  if (home === undefined || isTerminating(home)) return
  if (informers.for(resources.serviceAccounts).get(cluster, namespace, account) === undefined)
    await createIfMissing(client, resources.serviceAccounts, cluster, defaultAccount(namespace))
  const known = informers.for(resources.configMaps).get(cluster, namespace, bundle)?.object
  if (known === undefined)
    await createIfMissing(client, resources.configMaps, cluster, caBundle(namespace, rootCA))
  else if (certificateIn(known) !== rootCA)
    await updateObject(client, resources.configMaps, { cluster, namespace, name: bundle }, object => ({
      ...object,
      data: { 'ca.crt': rootCA },
    }))
}

const isTerminating = ({ metadata }: KubeObject): boolean => metadata.deletionTimestamp !== undefined

/** The default content of every namespace. */
export const namespaceContent = (
  cluster: ClusterName,
  namespace: string,
  rootCA: string,
): readonly Manifest[] => [
  { cluster, resource: resources.serviceAccounts, object: defaultAccount(namespace) },
  { cluster, resource: resources.configMaps, object: caBundle(namespace, rootCA) },
]

const certificateIn = (configMap: KubeObject): string | undefined =>
  (configMap.data as Readonly<Record<string, string>> | undefined)?.['ca.crt']

const defaultAccount = (namespace: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ServiceAccount',
  metadata: { name: account, namespace },
})

const caBundle = (namespace: string, rootCA: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: bundle, namespace, annotations: { 'kubernetes.io/description': description } },
  data: { 'ca.crt': rootCA },
})
