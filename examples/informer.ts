// Watches the widgets of all consumers through the URL in the provider's endpoint slice.
//   KUBECONFIG=.oriel/admin.kubeconfig npx tsx examples/informer.ts
import { CustomObjectsApi, KubeConfig, type KubernetesObject, ListWatch } from '@kubernetes/client-node'
import { ClusterWatch, keyed } from './clusterwatch.ts'

const [, , provider = 'root:provider', name = 'widgets.example.com'] = process.argv

interface Slice {
  readonly status?: { readonly endpoints?: readonly { readonly url: string }[] }
}

const config = new KubeConfig()
config.loadFromDefault()
const cluster = config.getCurrentCluster()
if (cluster === null) throw new Error('the kubeconfig has no current context')
const { origin } = new URL(cluster.server)

/** The same credentials for another server URL. */
function at(server: string): KubeConfig {
  const there = new KubeConfig()
  there.loadFromOptions({ ...config, clusters: [{ ...cluster, server }] })
  return there
}

const slices = at(`${origin}/clusters/${provider}`).makeApiClient(CustomObjectsApi)
const slice: Slice = await slices.getClusterCustomObject({
  group: 'apis.kcp.io',
  version: 'v1alpha1',
  plural: 'apiexportendpointslices',
  name,
})
const url = slice.status?.endpoints?.[0]?.url
if (url === undefined) throw new Error(`the endpoint slice ${name} lists no URL yet: the export is not bound`)

const view = at(`${url}/clusters/*`)
const widgets = view.makeApiClient(CustomObjectsApi)
const list = async () => {
  const found = await widgets.listCustomObjectForAllNamespaces({
    group: 'example.com',
    version: 'v1',
    plural: 'widgets',
  })
  return { ...found, items: found.items.map(keyed) }
}
const path = '/apis/example.com/v1/widgets'
const informer = new ListWatch<KubernetesObject>(path, new ClusterWatch(view), list, false)
for (const event of ['add', 'update', 'delete'] as const)
  informer.on(event, ({ metadata }) => console.log(event, `${metadata?.namespace}/${metadata?.name}`))
informer.on('error', error => {
  console.error(error)
  setTimeout(() => informer.start(), 1000)
})
await informer.start()
