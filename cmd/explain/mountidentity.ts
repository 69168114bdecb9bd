import { mountIdentityAnnotation, mountIdentityOf } from '../../framework/contract/workspacetree.ts'
import type { KubeObject } from '../../framework/meta/object.ts'
import type { JsonClient } from '../../framework/net/jsonclient.ts'
import { tenancyGroup } from '../../kcp/index.ts'

/** Where the requests for a mounted workspace go, and whose credentials they have. */
export interface ExplainedMount {
  readonly name: string
  readonly url: string
  /** `tenancy.oriel.dev/mount-identity`. */
  readonly identity: 'None' | 'Forward'
}

interface Attributes {
  readonly resourceAttributes?: {
    readonly group?: string
    readonly resource?: string
    readonly name?: string
  }
}

interface Mounted extends KubeObject {
  readonly spec?: { readonly mount?: object; readonly URL?: string }
}

/** The mount of the workspace that the attributes of a question name; undefined for other questions, and if it cannot be read. */
export async function mountIn(
  client: JsonClient,
  { attributes }: { readonly attributes: object },
): Promise<ExplainedMount | undefined> {
  const { group, resource, name } = (attributes as Attributes).resourceAttributes ?? {}
  if (group !== tenancyGroup || resource !== 'workspaces' || name === undefined) return undefined
  const path = `/apis/${tenancyGroup}/v1alpha1/workspaces/${encodeURIComponent(name)}`
  const { status, body } = await client(path).catch(() => ({ status: 0, body: undefined }))
  const workspace = status === 200 ? (body as Mounted) : undefined
  if (workspace?.spec?.mount === undefined) return undefined
  return { name, url: workspace.spec.URL ?? '', identity: mountIdentityOf(workspace) }
}

/** The mount as text. */
export function mountText({ name, url, identity }: ExplainedMount): string {
  const where = url === '' ? 'which has no URL yet' : url
  const how =
    identity === 'Forward'
      ? 'with the bearer token of the user, if the operator lists the host with --mount-forward-identity'
      : 'without credentials of the user'
  return `\nMount:\n  Requests for the workspace ${JSON.stringify(name)} go to ${where}, ${how}.\n  ${mountIdentityAnnotation}: ${identity}\n`
}
