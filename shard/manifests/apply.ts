import { randomUUID } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { ResourceRef } from '../../framework/contract/backend.ts'
import { type KubeObject, timestamp } from '../../framework/meta/object.ts'
import { decodeObject } from '../../framework/wire/encode.ts'
import { clusterAnnotation } from '../../kcp/annotations.ts'
import { systemGroups } from '../../kcp/apigroups.ts'
import { decodeStored, encodeStored, type StoredResource, storageKey } from '../cache/codec.ts'
import { builtinSegment, customSegment } from '../cache/segments.ts'
import { withMetadata } from '../registry/strategy.ts'
import type { Store, StoreChange } from '../store/store.ts'
import { createOnlyAnnotation, type Manifest } from './manifest.ts'

const isCustom = ({ group, identity }: ResourceRef): boolean =>
  identity !== undefined || systemGroups.includes(group)

/** The stored resource of a manifest: built-in, of kcp, or bound. */
export function storedResourceOf(ref: ResourceRef): StoredResource {
  const { group, resource, identity } = ref
  return { group, resource, segment: identity ?? (isCustom(ref) ? customSegment : builtinSegment) }
}

function keyOf({ cluster, resource, object }: Manifest): string {
  const { name = '', namespace = '' } = object.metadata
  return storageKey(storedResourceOf(resource), { cluster, namespace, name })
}

/** The object of a manifest as it is stored; undefined when it is not. */
export async function storedObject(store: Store, manifest: Manifest): Promise<KubeObject | undefined> {
  const value = await store.get(keyOf(manifest))
  return value && decodeObject(decodeStored(value.value).bytes)
}

/** Stores missing and changed objects in one commit, before anything is served; returns the number of objects. */
export async function applyManifests(store: Store, manifests: readonly Manifest[]): Promise<number> {
  const changes = await Promise.all(manifests.map(manifest => changeOf(store, manifest)))
  const wanted = changes.filter(change => change !== undefined)
  if (wanted.length > 0) await store.commit(wanted)
  return wanted.length
}

async function changeOf(store: Store, manifest: Manifest): Promise<StoreChange | undefined> {
  const key = keyOf(manifest)
  const stored = await store.get(key)
  if (stored === undefined) return creationOf(manifest)
  const current = decodeObject(decodeStored(stored.value).bytes)
  const next = updated(manifest, current)
  return isDeepStrictEqual(next, current)
    ? undefined
    : { key, value: encodeStored(next), expected: stored.modified }
}

/** Stores a new object as it is: the caller guarantees that it is complete and valid. */
export const creationOf = (manifest: Manifest): StoreChange => ({
  key: keyOf(manifest),
  value: encodeStored(created(manifest)),
  expected: 0,
})

const created = (manifest: Manifest): KubeObject =>
  withMetadata(manifest.object, {
    uid: manifest.object.metadata.uid ?? randomUUID(),
    creationTimestamp: timestamp(),
    generation: isCustom(manifest.resource) ? 1 : undefined,
    annotations: { ...manifest.object.metadata.annotations, [clusterAnnotation]: manifest.cluster },
  })

function updated({ object }: Manifest, current: KubeObject): KubeObject {
  if (current.metadata.annotations?.[createOnlyAnnotation] !== undefined) return current
  const { metadata, status } = current
  const merged = {
    ...object,
    metadata: withMetadata(current, {
      labels: mergedTexts(metadata.labels, object.metadata.labels),
      annotations: mergedTexts(metadata.annotations, object.metadata.annotations),
    }).metadata,
    ...(status === undefined ? {} : { status }),
  }
  const isSame = isDeepStrictEqual({ ...merged, metadata }, current)
  const { generation } = metadata
  return isSame || generation === undefined ? merged : withMetadata(merged, { generation: generation + 1 })
}

type Texts = Readonly<Record<string, string>> | undefined

const mergedTexts = (current: Texts, wanted: Texts): Texts =>
  current === undefined && wanted === undefined ? undefined : { ...current, ...wanted }
