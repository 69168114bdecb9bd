import type { KubeObject } from '../../framework/object.ts'
import { createIfMissing, updateObject } from './client.ts'
import { type Controller, createController, keyOf, parseKey } from './controller.ts'
import type { KcpControllerDeps } from './deps.ts'
import { resources } from './objects.ts'

const account = 'default'
const bundle = 'kube-root-ca.crt'
const description =
  'Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the ' +
  'internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes clusters.'

/** Gives every namespace its ServiceAccount `default` and the server's CA (chapter 20, section 7.2). */
export function namespaceDefaultsController(deps: KcpControllerDeps): Controller {
  const { client, informers, rootCA } = deps
  const [namespaces, accounts, configMaps] = [
    informers.for(resources.namespaces),
    informers.for(resources.serviceAccounts),
    informers.for(resources.configMaps),
  ]
  const reconcile = async (key: string): Promise<undefined> => {
    const { cluster, name: namespace } = parseKey(key)
    const current = namespaces.get(cluster, '', namespace)?.object
    if (current === undefined || current.metadata.deletionTimestamp !== undefined) return
    if (accounts.get(cluster, namespace, account) === undefined)
      await createIfMissing(client, resources.serviceAccounts, cluster, defaultAccount(namespace))
    const known = configMaps.get(cluster, namespace, bundle)?.object
    const target = { cluster, namespace, name: bundle }
    if (known === undefined)
      await createIfMissing(client, resources.configMaps, cluster, caBundle(namespace, rootCA))
    else if (certificateIn(known) !== rootCA)
      await updateObject(client, resources.configMaps, target, object => ({
        ...object,
        data: { 'ca.crt': rootCA },
      }))
  }
  const inNamespace = (cluster: string, namespace: string): readonly string[] => [`${cluster}|${namespace}`]
  return createController(
    {
      name: 'namespace-defaults',
      reconcile,
      sources: [
        { informer: namespaces, keys: ({ item }) => [keyOf(item)] },
        {
          informer: accounts,
          keys: ({ type, item: { key } }) =>
            type === 'DELETED' && key.name === account ? inNamespace(key.cluster, key.namespace) : [],
        },
        {
          informer: configMaps,
          keys: ({ type, item: { key } }) =>
            type !== 'ADDED' && key.name === bundle ? inNamespace(key.cluster, key.namespace) : [],
        },
      ],
    },
    deps.log,
  )
}

const certificateIn = (configMap: KubeObject): string | undefined =>
  (configMap.data as Readonly<Record<string, string>> | undefined)?.['ca.crt']

export const defaultAccount = (namespace: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ServiceAccount',
  metadata: { name: account, namespace },
})

export const caBundle = (namespace: string, rootCA: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: bundle, namespace, annotations: { 'kubernetes.io/description': description } },
  data: { 'ca.crt': rootCA },
})
