import type { KubeObject } from '../../framework/meta/object.ts'
import { isNotFound } from '../../framework/meta/statuschecks.ts'
import { atVersion } from '../../framework/wire/encode.ts'
import type { APIBinding } from '../../kcp/apis.ts'
import { boundCRDsCluster } from '../../kcp/logicalclusters.ts'
import { resourcePath, resources } from '../../kcp/resources.ts'
import { boundCopyOf } from '../bindings/boundschemas.ts'
import { encodeStored, registryPrefix, storageKey } from '../cache/codec.ts'
import type { StoredEntry } from '../entries/fromkcp.ts'
import { creationOf, storedResourceOf } from '../manifests/apply.ts'
import { peerNamed } from './shards.ts'
import type { MigrationStep } from './step.ts'

/** Milliseconds for a definition. */
const longest = 10_000

const placeOf = (uid: string): string =>
  storageKey(storedResourceOf(resources.crds), { cluster: boundCRDsCluster, namespace: '', name: uid })

/**
 * The definitions of the resources that bindings of a logical cluster of kcp have bound, without which its objects would not be served: kcp
 * creates them anew (`ensureBoundCRDs`). Throws when there is none of a resource.
 */
export async function boundCopies(
  step: MigrationStep,
  bindings: readonly APIBinding[],
): Promise<readonly StoredEntry[]> {
  const bound = bindings.flatMap(({ status }) => status?.boundResources ?? [])
  const uids = [...new Set(bound.map(({ schema }) => schema.UID))]
  return Promise.all(
    uids.map(async uid => ({
      key: placeOf(uid).slice(registryPrefix.length),
      value: (await knownDefinition(step.deps, uid)) ?? encodeStored(await fromOrigin(step, uid)),
    })),
  )
}

/** The definition of a bound resource that this shard has, or that of a schema that it has; what another shard sends does not replace it. */
export async function knownDefinition(
  deps: Pick<MigrationStep['deps'], 'content' | 'informers'>,
  uid: string,
): Promise<Buffer | undefined> {
  const place = placeOf(uid)
  const [known] = await deps.content.values(place, `${place}\0`, 1)
  if (known !== undefined) return known.value
  const schemas = deps.informers.for(resources.apiResourceSchemas).list()
  const schema = schemas.find(({ meta }) => meta.uid === uid)
  return schema && creationOf(boundCopyOf(schema)).value
}

/** The provider may have deleted the schema. */
async function fromOrigin({ deps, migration }: MigrationStep, uid: string): Promise<KubeObject> {
  const origin = migration.status?.originShard ?? ''
  const path = resourcePath(boundCRDsCluster, resources.crds, uid)
  try {
    const found = await peerNamed(deps.peers, origin).get<KubeObject>(path, AbortSignal.timeout(longest))
    return atVersion(found, '')
  } catch (error) {
    if (!isNotFound(error)) throw error
    throw new Error(`shard ${origin} has no definition of the bound APIResourceSchema with the uid ${uid}`)
  }
}
