import { mountIdentityAnnotation, mountIdentityOf } from '../../framework/contract/workspacetree.ts'
import type { KubeObject } from '../../framework/meta/object.ts'
import type { JsonClient } from '../../framework/net/jsonclient.ts'
import { tenancyGroup } from '../../kcp/index.ts'
import { type ClusterIdentity, clusterIdentityOf } from '../../virtual/mounts/clusteridentity.ts'
import { type KubeCluster, mountGroup } from '../../virtual/mounts/types.ts'
import { lineText } from '../files/terminaltext.ts'

/** Where the requests for a mounted workspace go, and whose credentials they have. */
export interface ExplainedMount {
  readonly name: string
  readonly url: string
  /** `tenancy.oriel.dev/mount-identity`. */
  readonly identity: 'None' | 'Forward'
  /** `spec.identity` of the KubeCluster that provides the URL; undefined for other kinds, and if it cannot be read. */
  readonly cluster?: ClusterIdentity
}

interface Attributes {
  readonly resourceAttributes?: {
    readonly group?: string
    readonly resource?: string
    readonly name?: string
  }
}

interface MountRef {
  readonly apiVersion?: string
  readonly kind?: string
  readonly name?: string
}

interface Mounted extends KubeObject {
  readonly spec?: { readonly mount?: { readonly ref?: MountRef }; readonly URL?: string }
}

/** The mount of the workspace that the attributes of a question name; undefined for other questions, and if it cannot be read. */
export async function mountIn(
  client: JsonClient,
  { attributes }: { readonly attributes: object },
): Promise<ExplainedMount | undefined> {
  const { group, resource, name } = (attributes as Attributes).resourceAttributes ?? {}
  if (group !== tenancyGroup || resource !== 'workspaces' || name === undefined) return undefined
  const path = `/apis/${tenancyGroup}/v1alpha1/workspaces/${encodeURIComponent(name)}`
  const workspace = (await readable(client, path)) as Mounted | undefined
  const mount = workspace?.spec?.mount
  if (workspace === undefined || mount === undefined) return undefined
  const cluster = await clusterIdentity(client, mount.ref)
  const own = { name, url: workspace.spec?.URL ?? '', identity: mountIdentityOf(workspace) }
  return { ...own, ...(cluster && { cluster }) }
}

async function readable(client: JsonClient, path: string): Promise<unknown> {
  const { status, body } = await client(path).catch(() => ({ status: 0, body: undefined }))
  return status === 200 ? body : undefined
}

async function clusterIdentity(client: JsonClient, ref: MountRef = {}): Promise<ClusterIdentity | undefined> {
  const { apiVersion = '', kind, name = '' } = ref
  if (kind !== 'KubeCluster' || !apiVersion.startsWith(`${mountGroup}/`)) return undefined
  const found = await readable(client, `/apis/${apiVersion}/kubeclusters/${encodeURIComponent(name)}`)
  return found === undefined ? undefined : clusterIdentityOf(found as KubeCluster)
}

/** The mount as text. */
export function mountText({ name, url, identity, cluster }: ExplainedMount): string {
  const where = url === '' ? 'which has no URL yet' : lineText(url)
  const how =
    identity === 'Forward'
      ? 'with the bearer token of the user, if the operator lists the host with --mount-forward-identity'
      : 'without credentials of the user'
  const request = `  Requests for the workspace ${JSON.stringify(name)} go to ${where}, ${how}.\n`
  const atCluster = cluster === undefined ? '' : clusterText(cluster)
  return `\nMount:\n${request}  ${mountIdentityAnnotation}: ${identity}\n${atCluster}`
}

function clusterText({ mode, prefix }: ClusterIdentity): string {
  const how =
    mode === 'Shared'
      ? 'is the user of the kubeconfig of the KubeCluster, for all callers'
      : `impersonates the user: names and groups get the prefix ${JSON.stringify(prefix)}`
  return `  The user at the cluster ${how}.\n  spec.identity.mode: ${mode}\n`
}
