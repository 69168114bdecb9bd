import { randomUUID } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { clusterAnnotation } from '../contract/item.ts'
import { copyJson } from '../lens/privatecopy.ts'
import { apiVersionOf, type ClusterName, type KubeObject, type ObjectKey, timestamp } from '../meta/object.ts'
import type { OwnKind } from './kind.ts'
import { MapSource } from './mapsource.ts'

/** An object of an `ObjectMap`: apiVersion, kind and the fields that the server sets are added. */
export interface OwnObject {
  readonly metadata: {
    readonly name: string
    readonly namespace?: string
    readonly uid?: string
    readonly creationTimestamp?: string
    readonly labels?: Readonly<Record<string, string>>
    readonly annotations?: Readonly<Record<string, string>>
  }
  readonly [field: string]: unknown
}

/**
 * The objects of a kind that a view computes, by logical cluster, namespace and name. `storageOf` serves them. Changes are
 * events of watches:
 *
 * ```ts
 * const counts = new ObjectMap({ group: 'example.com', version: 'v1', resource: 'counts', kind: 'Count' })
 * counts.set('2hx8kq0p4z7vw1a9', { metadata: { name: 'configmaps' }, count: 3 })
 * ```
 *
 * Objects are in memory. resourceVersions are larger than those before a restart, so that clients list again after it.
 */
export class ObjectMap {
  readonly #apiVersion: string
  readonly #kind: OwnKind
  readonly #source: MapSource

  constructor(kind: OwnKind) {
    this.#kind = kind
    this.#apiVersion = apiVersionOf(kind.group, kind.version)
    const { selectableFields: fields } = kind
    this.#source = new MapSource(kind, {
      apiVersion: this.#apiVersion,
      kind: kind.kind,
      ...(fields && { fields }),
    })
    sources.set(this, this.#source)
  }

  /**
   * Adds or replaces an object. It is copied. Nothing happens if the stored object has the same content. Throws an `Error` if it is
   * not JSON, or has no name, or has a namespace although the kind is not namespaced.
   */
  set(cluster: ClusterName, object: OwnObject): void {
    const key = this.#keyOf(cluster, object)
    const previous = this.#source.find(key)
    const made = this.#made(key, object, previous?.object)
    if (previous !== undefined && isDeepStrictEqual(made, previous.content)) return
    this.#source.put(key, made)
  }

  /** The object; undefined if there is none. */
  get(cluster: ClusterName, name: string, namespace = ''): KubeObject | undefined {
    const found = this.#source.find({ cluster, namespace, name })
    return found && copyJson(found.object)
  }

  /** Whether there was such an object. */
  delete(cluster: ClusterName, name: string, namespace = ''): boolean {
    return this.#source.remove({ cluster, namespace, name })
  }

  /** Makes these the objects of a logical cluster: others are deleted, and only differences are events. */
  replace(cluster: ClusterName, objects: readonly OwnObject[]): void {
    const kept = new Set(objects.map(object => this.#keyOf(cluster, object)).map(idOf))
    for (const key of this.#source.keys(cluster)) if (!kept.has(idOf(key))) this.#source.remove(key)
    for (const object of objects) this.set(cluster, object)
  }

  #keyOf(cluster: ClusterName, { metadata }: OwnObject): ObjectKey {
    const { name, namespace = '' } = metadata ?? {}
    const { kind, namespaced = false } = this.#kind
    if (typeof name !== 'string' || name === '')
      throw new Error(`an object of the kind ${kind} has no metadata.name`)
    if (cluster === '' || cluster === '*')
      throw new Error(`${kind} ${name} needs the name of a logical cluster`)
    if ((namespace !== '') !== namespaced)
      throw new Error(`${kind} ${name} must ${namespaced ? '' : 'not '}have metadata.namespace`)
    return { cluster, namespace, name }
  }

  #made({ cluster }: ObjectKey, object: OwnObject, previous: KubeObject | undefined): KubeObject {
    const { metadata, ...content } = copyJson(object)
    const before = previous?.metadata
    return {
      ...content,
      apiVersion: this.#apiVersion,
      kind: this.#kind.kind,
      metadata: {
        ...metadata,
        annotations: { ...metadata.annotations, [clusterAnnotation]: cluster },
        uid: metadata.uid ?? before?.uid ?? randomUUID(),
        creationTimestamp: metadata.creationTimestamp ?? before?.creationTimestamp ?? timestamp(),
      },
    }
  }
}

const idOf = ({ namespace, name }: ObjectKey): string => `${namespace}/${name}`

const sources = new WeakMap<ObjectMap, MapSource>()

/** The cache behind a map. */
export function sourceOf(map: ObjectMap): MapSource {
  const source = sources.get(map)
  if (source === undefined) throw new Error('storageOf needs an ObjectMap')
  return source
}
