import type { ResourceRef } from '../../framework/contract/backend.ts'
import type { Informer } from '../../framework/contract/informer.ts'
import type { Item } from '../../framework/contract/item.ts'
import type { ClusterName, KubeObject } from '../../framework/meta/object.ts'
import { type ConditionState, isFalse, isTrue } from '../../kcp/conditions.ts'
import { identityHash, newIdentityKey } from '../../kcp/names.ts'
import { resources } from '../../kcp/resources.ts'
import { type ControllerClient, clusterScoped, createIfMissing, updateObject } from './client.ts'
import { keyOf } from './controller.ts'

export const identityNamespace = 'kcp-system'

/** An object with an identity: APIExport or ClusterCachedResource. */
interface Identified extends KubeObject {
  readonly spec?: {
    readonly identity?: { readonly secretRef?: { readonly name?: string; readonly namespace?: string } }
  }
  readonly status?: { readonly identityHash?: string }
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

export const namesIdentity = ({ spec }: Identified): boolean => Boolean(spec?.identity?.secretRef?.name)

/** Creates the identity secret, or uses an existing one: objects with the same secret share their data. */
export async function giveIdentity(
  client: ControllerClient,
  resource: ResourceRef,
  cluster: ClusterName,
  name: string,
): Promise<void> {
  const namespace = identityNamespace
  await createIfMissing(client, resources.namespaces, cluster, {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: namespace },
  })
  await createIfMissing(client, resources.secrets, cluster, identitySecret(name, newIdentityKey()))
  await updateObject<Identified>(client, resource, clusterScoped(cluster, name), current =>
    namesIdentity(current)
      ? current
      : { ...current, spec: { ...current.spec, identity: { secretRef: { namespace, name } } } },
  )
}

/** Finds the keys of the objects that use a secret. */
export function usersOfSecrets(objects: Informer): (secret: Item) => readonly string[] {
  const bySecret = objects.index(secretsOf)
  return ({ key: { cluster, namespace, name } }) => bySecret(secretKey(cluster, namespace, name)).map(keyOf)
}

function secretsOf({ key, object }: Item): readonly string[] {
  const { name, namespace } = (object as Identified).spec?.identity?.secretRef ?? {}
  return name === undefined || namespace === undefined ? [] : [secretKey(key.cluster, namespace, name)]
}

const secretKey = (cluster: ClusterName, namespace: string, name: string): string =>
  `${cluster}|${namespace}|${name}`

/** The identity hash of a secret and its condition. An identity never changes once it is set. */
export function identityState(
  secrets: Informer,
  cluster: ClusterName,
  { spec, status }: Identified,
): { readonly hash: string | undefined; readonly condition: ConditionState } {
  const { name = '', namespace = '' } = spec?.identity?.secretRef ?? {}
  const secret = secrets.get(cluster, namespace, name)?.object
  const key = identityKeyOf(secret)
  const found = key.length === 0 ? undefined : identityHash(key)
  const known = status?.identityHash || found
  const invalid = (message: string): ConditionState =>
    isFalse('IdentityValid', 'Error', 'IdentityVerificationFailed', message)
  const hash = known
  if (secret === undefined) return { hash, condition: invalid(`secrets "${name}" not found`) }
  if (found === undefined) return { hash, condition: invalid('secret is missing data.key') }
  if (found === known) return { hash, condition: isTrue('IdentityValid') }
  const mismatch = `hash mismatch: identity secret hash "${found}" must match status.identityHash "${known}"`
  return { hash, condition: invalid(mismatch) }
}
