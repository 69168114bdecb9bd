import type { ItemEvent } from '../../../framework/contract/item.ts'
import type { ClusterName, KubeObject } from '../../../framework/meta/object.ts'
import { resources } from '../../../kcp/resources.ts'
import type { Manifest } from '../../manifests/manifest.ts'
import { createIfMissing, updateObject } from '../client.ts'
import { type Controller, createController, keyFor, keyOf, parseKey } from '../controller.ts'
import type { KcpControllerDeps } from '../deps.ts'

const account = 'default'
const bundle = 'kube-root-ca.crt'
const description =
  'Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the ' +
  'internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes clusters.'

/** Gives every namespace its ServiceAccount `default` and the server's CA (chapter 20, section 7.2). */
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
  if (current === undefined || current.metadata.deletionTimestamp !== undefined) return
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

/** What every namespace has, as it is stored. */
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
