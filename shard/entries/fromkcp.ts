import { originAnnotation } from '../../framework/contract/item.ts'
import {
  apiVersionOf,
  type ClusterName,
  groupResource,
  type KubeObject,
  type Metadata,
  type ObjectKey,
  versionIn,
} from '../../framework/meta/object.ts'
import { movedAnnotation, ownAnnotationPrefix } from '../../kcp/annotations.ts'
import { systemGroups, viewsGroup } from '../../kcp/apigroups.ts'
import type { DumpEntry } from '../../kcp/migration.ts'
import { isServedEverywhere } from '../../kcp/resources.ts'
import { completed } from '../../openapi/compile.ts'
import { type KindDefinition, kindsByName } from '../../openapi/definitions/definition.ts'
import { kcpKinds } from '../../openapi/definitions/kcp/index.ts'
import { builtinKinds, reviewKinds } from '../../openapi/definitions/kubernetes/index.ts'
import {
  encodeStored,
  encodeStoredForm,
  type ParsedKey,
  registryPrefix,
  type StoredResource,
  storageKey,
  storedForm,
} from '../cache/codec.ts'
import { builtinSegment, customSegment } from '../cache/segments.ts'
import { conversions } from '../conversion/conversions.ts'
import { withMetadata, withoutPresented } from '../registry/strategy.ts'
import { crdFromBeta } from './betacrds.ts'
import { parseKcpKey } from './kcpkeys.ts'
import { decodeKcpValue } from './kcpvalues.ts'

/** A stored entry of a logical cluster. */
export interface StoredEntry {
  /** `<logical cluster>/…`: the key in the store without its prefix. */
  readonly key: string
  readonly value: Buffer
}

/**
 * An entry of a dump of kcp as this program stores it. Throws for an entry of another logical cluster, of a kind that this program does
 * not have, and for a value that it cannot read; the message names the key.
 */
export function entryFromKcp(cluster: ClusterName, { key, value }: DumpEntry): StoredEntry {
  const place = parseKcpKey(key, cluster)
  if (place === undefined) throw new Error(`the dump of logical cluster ${cluster} has the entry ${key}`)
  try {
    const object = decodeKcpValue(Buffer.from(value, 'base64'))
    return {
      key: storageKey(place.resource, place.key).slice(registryPrefix.length),
      value: stored(place, object),
    }
  } catch (error) {
    throw new Error(`the entry ${key} cannot be stored: ${(error as Error).message}`)
  }
}

/** The number of no schema: reads prune and default the object by the current one, as reads of kcp do. */
const foreignShape = 2

/** Throws for an object that has another name or namespace than its key. */
export function checkPlace(key: ObjectKey, metadata: Metadata | null | undefined): void {
  const { name, namespace = '' } = metadata ?? {}
  if (name !== key.name || namespace !== key.namespace)
    throw new Error(`it has the object ${namespace}/${name}`)
}

function stored({ resource, key }: ParsedKey, object: KubeObject): Buffer {
  checkPlace(key, object.metadata)
  if (object.apiVersion !== apiVersionOf(resource.group, versionIn(object.apiVersion)))
    throw new Error(`it has an object of ${object.apiVersion}`)
  const own = withoutForeign(object, key.cluster)
  return resource.segment === builtinSegment
    ? encodeStored(builtin(resource, own))
    : encodeStoredForm(storedForm(custom(resource, own)), foreignShape)
}

/** Without the annotations with which a shard marks copies and moves, and the labels that this program adds at reads. */
function withoutForeign(object: KubeObject, cluster: ClusterName): KubeObject {
  const known = Object.entries(object.metadata.annotations ?? {}).filter(([name]) => !isForeign(name))
  return withoutPresented(withMetadata(object, { annotations: Object.fromEntries(known) }), cluster)
}

const isForeign = (annotation: string): boolean =>
  annotation === originAnnotation ||
  (annotation.startsWith(ownAnnotationPrefix) && annotation !== movedAnnotation)

/** Events of both groups are stored in the core group. */
const builtins = kindsByName(
  builtinKinds.filter(kind => !reviewKinds.includes(kind) && kind.group !== 'events.k8s.io'),
)
const systems = kindsByName(kcpKinds.filter(({ group, names }) => isServedEverywhere(group, names.plural)))

const versionStored = ({ versions }: KindDefinition) => versions.find(({ storage }) => storage)

function builtin({ group, resource }: StoredResource, object: KubeObject): KubeObject {
  const definition = builtins.get(groupResource(group, resource))
  const version = definition && versionStored(definition)
  if (definition?.names.kind !== object.kind || version === undefined)
    throw new Error(`this shard has no built-in kind ${object.kind} of ${group || 'the core group'}`)
  const isCrd = object.kind === 'CustomResourceDefinition'
  if (isCrd) refuseOurGroup((object.spec as { readonly group?: string } | undefined)?.group)
  const current = isCrd && versionIn(object.apiVersion) === 'v1beta1' ? crdFromBeta(object) : object
  return completed(version.schema, { ...current, apiVersion: apiVersionOf(group, version.name) })
}

/** Objects in a group of this program would become its own kinds here. */
function refuseOurGroup(group: string | undefined): void {
  if (group === viewsGroup) throw new Error(`the group ${group} is one of Oriel`)
}

/** An object of a CustomResourceDefinition or of an export stays in its version; the kinds of kcp are stored in one. */
function custom({ group, resource, segment }: StoredResource, object: KubeObject): KubeObject {
  if (segment !== customSegment || !systemGroups.includes(group)) return object
  refuseOurGroup(group)
  const name = groupResource(group, resource)
  const definition = systems.get(name)
  if (definition?.names.kind !== object.kind)
    throw new Error(`this shard has no kind ${object.kind} of ${group}`)
  const wanted = versionStored(definition)?.name ?? ''
  if (versionIn(object.apiVersion) === wanted) return object
  const convert = conversions.get(name)
  if (convert === undefined)
    throw new Error(`this shard has no version ${object.apiVersion} of ${object.kind}`)
  return convert(object, wanted)
}
