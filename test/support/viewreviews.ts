import type { KubeObject } from '../../framework/index.ts'
import { gadgets } from './crds.ts'
import type { Oriel } from './oriel.ts'
import { bind, bindingOf, createWorkspaces, exportApi, publishedUrl, type Tenant } from './tenants.ts'

/** An access review of a request to a view. */
export interface ViewReview {
  /** The user of a SubjectAccessReview; without it, a SelfSubjectAccessReview. */
  readonly about?: string
  /** The path of the view. */
  readonly view: string
  /** The resource attributes. */
  readonly wanted: object
}

/** A review that a user sends. */
export interface AskedReview extends Omit<ViewReview, 'wanted'> {
  readonly who: string
  readonly wanted?: object
}

const apiVersion = 'authorization.k8s.io/v1'

/** The review, and the path of its resource below that of a logical cluster. */
export function viewReview({ about, view, wanted }: ViewReview): {
  readonly path: string
  readonly body: KubeObject
} {
  const kind = about === undefined ? 'SelfSubjectAccessReview' : 'SubjectAccessReview'
  const subject = about === undefined ? {} : { user: about, groups: ['system:authenticated'] }
  const metadata = { annotations: { 'oriel/view': view } }
  return {
    path: `/apis/${apiVersion}/${kind.toLowerCase()}s`,
    body: { apiVersion, kind, metadata, spec: { ...subject, resourceAttributes: wanted } },
  }
}

/** The rules that would allow a verb on the content of an APIExport. */
export const contentRules = (verb: string, name: string): readonly object[] => [
  { verbs: [verb], apiGroups: ['apis.kcp.io'], resources: ['apiexports/content'], resourceNames: [name] },
]

/** A workspace that exports the gadgets, one that binds them, and one that does neither. */
export interface ExportedGadgets {
  readonly provider: Tenant
  readonly consumer: Tenant
  readonly stranger: Tenant
  /** The path of the view of the export in one logical cluster, or in `*`. */
  view(cluster: string): string
}

/** The export claims configmaps, and the binding does not accept the claim. `prepare` runs before the export is created. */
export async function exportGadgets(
  server: Oriel,
  prepare: (workspaces: Omit<ExportedGadgets, 'view'>) => Promise<unknown>,
): Promise<ExportedGadgets> {
  const made = await createWorkspaces(server, ['provider', 'consumer', 'stranger'])
  const [provider, consumer, stranger] = made as [Tenant, Tenant, Tenant]
  await prepare({ provider, consumer, stranger })
  const name = await exportApi(provider, gadgets, [{ group: '', resource: 'configmaps' }])
  await bind(consumer, bindingOf(provider, name, []))
  const { pathname } = new URL(await publishedUrl(provider, name))
  return { provider, consumer, stranger, view: cluster => `${pathname}/clusters/${cluster}` }
}
