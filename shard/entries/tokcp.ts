import { isCopied } from '../../framework/contract/item.ts'
import { groupResource, type KubeObject } from '../../framework/meta/object.ts'
import { atVersion } from '../../framework/wire/encode.ts'
import { movedAnnotation, ownAnnotationPrefix } from '../../kcp/annotations.ts'
import type { DumpEntry } from '../../kcp/migration.ts'
import { orielKinds } from '../../openapi/definitions/oriel/index.ts'
import type { ParsedKey, StoredResource } from '../cache/codec.ts'
import { customSegment } from '../cache/segments.ts'
import { withMetadata } from '../registry/strategy.ts'
import { kcpKeyOf } from './kcpkeys.ts'

/** The resources that a shard of kcp does not have. */
export const missingInKcp: readonly StoredResource[] = orielKinds.map(({ group, names }) => ({
  group,
  resource: names.plural,
  segment: customSegment,
}))

/**
 * An object as shards of kcp store it, with the labels of reads; undefined for the copy of an object of another shard. Values are JSON:
 * kube-apiserver reads it for built-in kinds, too. Throws for a kind that kcp does not have; the message names the key.
 */
export function entryForKcp(place: ParsedKey, object: KubeObject): DumpEntry | undefined {
  const { metadata } = object
  if (isCopied({ annotations: metadata.annotations ?? {} })) return undefined
  const key = kcpKeyOf(place)
  if (missingInKcp.some(resource => isSame(resource, place.resource)))
    throw new Error(`the entry ${key} is of a kind that shards of kcp do not have`)
  const annotations = Object.entries(metadata.annotations ?? {}).filter(([name]) => !isOurs(name))
  const sent = withMetadata(atVersion(object, ''), { annotations: Object.fromEntries(annotations) })
  return { key, value: Buffer.from(JSON.stringify(sent)).toString('base64') }
}

const isSame = (a: StoredResource, b: StoredResource): boolean =>
  a.segment === b.segment && groupResource(a.group, a.resource) === groupResource(b.group, b.resource)

/** Where a logical cluster is on its way is no matter of the other shard; how often it has moved is. */
const isOurs = (annotation: string): boolean =>
  annotation.startsWith(ownAnnotationPrefix) && annotation !== movedAnnotation
