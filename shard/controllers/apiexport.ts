import type { Informer } from '../../framework/informer.ts'
import type { Item } from '../../framework/item.ts'
import type { KubeObject } from '../../framework/object.ts'
import { isCopy, skipEndpointSliceAnnotation } from '../metadata.ts'
import { identityHash, newIdentityKey } from '../names.ts'
import { clusterScoped, createIfMissing, updateObject, updateStatus } from './client.ts'
import { type ConditionState, isFalse, isTrue, setConditions } from './conditions.ts'
import { type Controller, createController, keyOf, parseKey } from './controller.ts'
import type { KcpControllerDeps } from './deps.ts'
import { type APIExport, resources } from './objects.ts'

export const identityNamespace = 'kcp-system'

/** Gives every export an identity and a default endpoint slice (chapter 20, sections 5.3 and 5.4). */
export function apiExportController(deps: KcpControllerDeps): Controller {
  const exports = deps.informers.for(resources.apiExports)
  const secrets = deps.informers.for(resources.secrets)
  const slices = deps.informers.for(resources.endpointSlices)
  const reconcile = async (key: string): Promise<undefined> => {
    const { cluster, name } = parseKey(key)
    const current = exports.get(cluster, '', name)?.object as APIExport | undefined
    if (current === undefined || isCopy(current) || current.metadata.deletionTimestamp !== undefined) return
    if (!current.spec?.identity?.secretRef?.name) await giveIdentity(deps, cluster, name)
    else await writeIdentity(deps, cluster, name, secretOf(secrets, cluster, current))
    if (slices.get(cluster, '', name) === undefined) await createDefaultSlice(deps, cluster, current)
  }
  return createController(
    {
      name: 'apiexport',
      reconcile,
      sources: [
        { informer: exports, keys: ({ item }) => [keyOf(item)] },
        { informer: secrets, keys: ({ item }) => usersOf(exports, item) },
        { informer: slices, keys: ({ type, item }) => (type === 'DELETED' ? [keyOf(item)] : []) },
      ],
    },
    deps.log,
  )
}

/** The exports whose identity this secret is. */
const usersOf = (exports: Informer, { key }: Item): readonly string[] =>
  exports
    .list(key.cluster)
    .filter(item => {
      const { name, namespace } = (item.object as APIExport).spec?.identity?.secretRef ?? {}
      return name === key.name && namespace === key.namespace
    })
    .map(keyOf)

function secretOf(
  secrets: Informer,
  cluster: string,
  { spec }: APIExport,
): { name: string; secret: KubeObject | undefined } {
  const { name = '', namespace = '' } = spec?.identity?.secretRef ?? {}
  return { name, secret: secrets.get(cluster, namespace, name)?.object }
}

/** A secret that is there already is adopted: whoever has the same secret shares the data. */
async function giveIdentity({ client }: KcpControllerDeps, cluster: string, name: string): Promise<void> {
  const namespace = identityNamespace
  await createIfMissing(client, resources.namespaces, cluster, {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: namespace },
  })
  await createIfMissing(client, resources.secrets, cluster, identitySecret(name, newIdentityKey()))
  await updateObject<APIExport>(client, resources.apiExports, clusterScoped(cluster, name), current =>
    current.spec?.identity?.secretRef?.name
      ? current
      : { ...current, spec: { ...current.spec, identity: { secretRef: { namespace, name } } } },
  )
}

export const identitySecret = (name: string, key: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name, namespace: identityNamespace },
  type: 'Opaque',
  data: { key: Buffer.from(key).toString('base64') },
})

/** The bytes of `data.key`. */
export const identityKeyOf = (secret: KubeObject | undefined): Buffer =>
  Buffer.from((secret?.data as { key?: string } | undefined)?.key ?? '', 'base64')

async function writeIdentity(
  { client }: KcpControllerDeps,
  cluster: string,
  name: string,
  identity: { readonly name: string; readonly secret: KubeObject | undefined },
): Promise<void> {
  const key = identityKeyOf(identity.secret)
  const found = key.length === 0 ? undefined : identityHash(key)
  const missing =
    identity.secret === undefined ? `secrets "${identity.name}" not found` : 'secret is missing data.key'
  await updateStatus<APIExport>(client, resources.apiExports, clusterScoped(cluster, name), current => {
    const { virtualWorkspaces: _, ...status } = current.status ?? {}
    const known = status.identityHash || found
    const conditions = setConditions(status.conditions, [identityCondition(found, known, missing)])
    return {
      ...current,
      status: { ...status, ...(known === undefined ? {} : { identityHash: known }), conditions },
    }
  })
}

/** Once known, an identity never changes. */
function identityCondition(
  found: string | undefined,
  known: string | undefined,
  missing: string,
): ConditionState {
  const invalid = (message: string): ConditionState =>
    isFalse('IdentityValid', 'Error', 'IdentityVerificationFailed', message)
  if (found === undefined) return invalid(missing)
  if (found === known) return isTrue('IdentityValid')
  return invalid(`hash mismatch: identity secret hash "${found}" must match status.identityHash "${known}"`)
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
