import {
  CoreV1Api,
  CustomObjectsApi,
  KubeConfig,
  type KubernetesObject,
  Watch,
} from '@kubernetes/client-node'
import { clusterOf } from './clusterwatch.ts'

const logicalClusters = { group: 'core.kcp.io', version: 'v1alpha1', plural: 'logicalclusters' }
const path = '/apis/core.kcp.io/v1alpha1/logicalclusters'
const again = 1_000

interface LogicalCluster extends KubernetesObject {
  readonly status?: { readonly initializers?: string[]; readonly terminators?: string[] }
}

/** The same credentials for another server URL. */
function at(config: KubeConfig, server: string): KubeConfig {
  const cluster = config.getCurrentCluster()
  if (cluster === null) throw new Error('the kubeconfig has no current context')
  const there = new KubeConfig()
  there.loadFromOptions({ ...config, clusters: [{ ...cluster, server }] })
  return there
}

interface Refusal {
  readonly message?: string
  readonly body?: string
}

/** The message of a Status and its causes: what a refused request lacks. The error of a watch has neither. */
function statusOf({ message = '', body = '' }: Refusal): string {
  try {
    const status: { message?: string; details?: { causes?: readonly { message?: string }[] } } =
      JSON.parse(body)
    const causes = status.details?.causes?.map(cause => cause.message) ?? []
    return [status.message ?? message, ...causes].join('\n  ')
  } catch {
    return message
  }
}

/**
 * Runs `work` for every workspace in the view, then removes the initializer or terminator. A workspace stays in the view
 * until then, so failed work is retried. Runs until the process ends.
 */
export async function followWorkspaces(
  config: KubeConfig,
  url: string,
  list: 'initializers' | 'terminators',
  work: (core: CoreV1Api) => Promise<void>,
): Promise<void> {
  const waiting = new Set<string>()
  const identifier = decodeURIComponent(url.slice(url.lastIndexOf('/') + 1))

  async function serve(cluster: string): Promise<void> {
    const there = at(config, `${url}/clusters/${cluster}`)
    try {
      await work(there.makeApiClient(CoreV1Api))
      await finish(there.makeApiClient(CustomObjectsApi))
      console.log('done', cluster)
    } catch (error) {
      console.error('failed, retrying', cluster, (error as Error).message)
      setTimeout(() => waiting.has(cluster) && serve(cluster), again)
    }
  }

  async function finish(api: CustomObjectsApi): Promise<void> {
    const target = { ...logicalClusters, name: 'cluster' }
    const body: LogicalCluster = await api.getClusterCustomObject(target)
    const left = body.status?.[list]?.filter(entry => entry !== identifier)
    await api.replaceClusterCustomObjectStatus({
      ...target,
      body: { ...body, status: { ...body.status, [list]: left } },
    })
  }

  const onEvent = (type: string, object: LogicalCluster): void => {
    const cluster = clusterOf(object)
    if (type === 'DELETED') waiting.delete(cluster)
    if (type !== 'ADDED' && type !== 'MODIFIED') return
    if (waiting.has(cluster)) return
    waiting.add(cluster)
    void serve(cluster)
  }
  // A watch without a resourceVersion starts with ADDED events of all objects.
  const watch = new Watch(at(config, `${url}/clusters/*`))
  const view = at(config, `${url}/clusters/*`).makeApiClient(CustomObjectsApi)
  let reported = ''
  const onEnd = async (): Promise<void> => {
    const problem = await view
      .listCustomObjectForAllNamespaces({ ...logicalClusters, limit: 1 })
      .catch(statusOf)
    const refusal = typeof problem === 'string' ? problem : ''
    if (refusal !== '' && refusal !== reported) console.error('refused, retrying', refusal)
    reported = refusal
    setTimeout(run, again)
  }
  const run = async (): Promise<void> => {
    await watch.watch(path, {}, onEvent, () => void onEnd())
  }
  await run()
}
