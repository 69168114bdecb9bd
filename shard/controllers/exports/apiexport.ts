import { isCopy, skipEndpointSliceAnnotation } from '../../../kcp/annotations.ts'
import type { APIExport } from '../../../kcp/apis.ts'
import { setConditions } from '../../../kcp/conditions.ts'
import { resources } from '../../../kcp/resources.ts'
import { clusterScoped, createIfMissing, updateStatus } from '../client.ts'
import { type Controller, createController, keyOf, parseKey } from '../controller.ts'
import type { KcpControllerDeps } from '../host.ts'
import { giveIdentity, identityState, namesIdentity, usersOfSecrets } from '../identity.ts'

/** Gives every APIExport an identity and a default endpoint slice (kcp `pkg/reconciler/apis/apiexport`). */
export function apiExportController(deps: KcpControllerDeps): Controller {
  const exports = deps.informers.for(resources.apiExports)
  const secrets = deps.informers.for(resources.secrets)
  const slices = deps.informers.for(resources.endpointSlices)
  const usersOf = usersOfSecrets(exports)
  const reconcile = async (key: string): Promise<undefined> => {
    const { cluster, name } = parseKey(key)
    const current = exports.get(cluster, '', name)?.object as APIExport | undefined
    if (current === undefined || isCopy(current) || current.metadata.deletionTimestamp !== undefined) return
    if (namesIdentity(current)) await writeIdentity(deps, cluster, name)
    else await giveIdentity(deps.client, resources.apiExports, cluster, name)
    if (slices.get(cluster, '', name) === undefined) await createDefaultSlice(deps, cluster, current)
  }
  return createController(
    {
      name: 'apiexport',
      reconcile,
      sources: [
        { informer: exports, keys: ({ item }) => [keyOf(item)] },
        { informer: secrets, keys: ({ item }) => usersOf(item) },
        { informer: slices, keys: ({ type, item }) => (type === 'DELETED' ? [keyOf(item)] : []) },
      ],
    },
    deps.log,
  )
}

async function writeIdentity(
  { client, informers }: KcpControllerDeps,
  cluster: string,
  name: string,
): Promise<void> {
  const secrets = informers.for(resources.secrets)
  await updateStatus<APIExport>(client, resources.apiExports, clusterScoped(cluster, name), current => {
    const { virtualWorkspaces: _, ...status } = current.status ?? {}
    const { hash, condition } = identityState(secrets, cluster, current)
    const conditions = setConditions(status.conditions, [condition])
    return { ...current, status: { ...status, ...(hash && { identityHash: hash }), conditions } }
  })
}

async function createDefaultSlice(
  { client, directory }: KcpControllerDeps,
  cluster: string,
  { metadata }: APIExport,
): Promise<void> {
  if (metadata.annotations?.[skipEndpointSliceAnnotation] !== undefined) return
  const { name = '', uid = '' } = metadata
  await createIfMissing(client, resources.endpointSlices, cluster, {
    apiVersion: 'apis.kcp.io/v1alpha1',
    kind: 'APIExportEndpointSlice',
    metadata: {
      name,
      ownerReferences: [{ apiVersion: 'apis.kcp.io/v1alpha1', kind: 'APIExport', name, uid }],
    },
    spec: { export: { name, path: directory.path(cluster) } },
  })
}
