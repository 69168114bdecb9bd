import { type ClusterName, groupResource, type KubeObject, versionIn } from '../../framework/meta/object.ts'
import { decodeObject } from '../../framework/wire/encode.ts'
import { systemGroups } from '../../kcp/apigroups.ts'
import { boundCRDsCluster } from '../../kcp/logicalclusters.ts'
import type { DumpEntry } from '../../kcp/migration.ts'
import { resources } from '../../kcp/resources.ts'
import {
  decodeStored,
  encodeStoredForm,
  type ParsedKey,
  parseStorageKey,
  registryPrefix,
  shapeIn,
  storedForm,
} from '../cache/codec.ts'
import { builtinSegment, customSegment } from '../cache/segments.ts'
import { checkPlace, type StoredEntry } from './fromkcp.ts'
import { readable, withReadableMetadata } from './wellformed.ts'

/** Whose entries these are. */
export interface EntryOwner {
  readonly cluster: ClusterName
  /** The identities of the kinds of `root` that this program knows, such as Workspaces. */
  readonly identities: ReadonlySet<string | undefined>
}

/**
 * An entry of a dump of another shard of Oriel, encoded again: bytes with wrong offsets would end the cache of all logical clusters.
 * Throws for an entry of another logical cluster that is no definition of a bound resource, and for a value that is not the object
 * of its key or that controllers cannot read; the message names the key.
 */
export function entryFromOriel(owner: EntryOwner, { key, value }: DumpEntry): StoredEntry {
  const place = parseStorageKey(registryPrefix + key)
  if (place === undefined || (place.key.cluster !== owner.cluster && !isDefinition(place)))
    throw new Error(`the dump of logical cluster ${owner.cluster} has the entry ${key}`)
  try {
    const bytes = Buffer.from(value, 'base64')
    const object = objectAt(place, owner, decodeObject(decodeStored(bytes).bytes))
    return { key, value: encodeStoredForm(storedForm(object), shapeIn(bytes)) }
  } catch (error) {
    throw new Error(`the entry ${key} cannot be stored: ${(error as Error).message}`)
  }
}

/** Whether it is that of a bound resource. */
export const isDefinition = ({ resource, key }: ParsedKey): boolean =>
  key.cluster === boundCRDsCluster &&
  resource.resource === resources.crds.resource &&
  resource.group === resources.crds.group

function objectAt({ resource: place, key }: ParsedKey, owner: EntryOwner, sent: KubeObject): KubeObject {
  const { group, resource, segment } = place
  checkPlace(key, sent?.metadata)
  const isOurs =
    segment === builtinSegment ||
    owner.identities.has(segment) ||
    (segment === customSegment && systemGroups.includes(group))
  const version = versionIn(String(sent.apiVersion))
  const object = isOurs ? readable({ group, version, resource }, sent) : withReadableMetadata(sent)
  if (object === undefined) throw new Error(`it is no readable object of ${groupResource(group, resource)}`)
  return object
}
