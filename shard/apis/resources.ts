import { inTurns, Pace } from '../../framework/async/awaitable.ts'
import type { ServedKind } from '../../framework/cache/selection.ts'
import type { KindVersions } from '../../framework/contract/admission.ts'
import type { ApiResource, Subresource } from '../../framework/contract/apis.ts'
import type { RequestContext } from '../../framework/contract/context.ts'
import { itemOf } from '../../framework/contract/item.ts'
import type { ResourceStorage } from '../../framework/contract/storage.ts'
import { lazily } from '../../framework/json/values.ts'
import {
  apiVersionOf,
  type GroupVersionResource,
  type KubeObject,
  type ObjectKey,
} from '../../framework/meta/object.ts'
import type { Verb } from '../../framework/request/requestinfo.ts'
import { type Decodable, decodeSteps } from '../../framework/verbs/body.ts'
import { kubernetesGroups } from '../../kcp/apigroups.ts'
import { compileCached } from '../../openapi/compile.ts'
import { coreEvents } from '../../openapi/definitions/kubernetes/events.ts'
import { apiResourcesOf, readOnlyResourcesOf, subresourceVerbs } from '../../openapi/resource.ts'
import type { RegistryAdmission } from '../admission/chain.ts'
import type { StoredResource } from '../cache/codec.ts'
import type { ResourceCache } from '../cache/resource.ts'
import type { ObjectStore, ObjectStoreOptions, Registry } from '../registry/registry.ts'
import { either, presented, registryStorage, shapeOf } from '../registry/storage.ts'
import type { Part } from '../registry/strategy.ts'
import { versionedObjectStore } from '../registry/versionedstore.ts'
import type { ClusterApis } from './clusters.ts'
import { convertedReads } from './convertedreads.ts'
import { type WatchEnds, withWatchEnds } from './ends.ts'
import { groupEventStorage } from './events.ts'
import { replicasPath, scaleAdmission, scaleMutation, scaleStorage, withScaleRules } from './scale.ts'
import {
  builtinServed,
  type ResourcesOf,
  type ServedDefinition,
  servedKind,
  servedName,
  storageVersionOf,
} from './served.ts'
import {
  isStoredAs,
  isWrittenAsStored,
  mayHaveOthers,
  ownVersion,
  type VersionEndpoint,
  type Versions,
} from './versions.ts'

/** An object that is computed; undefined: read the stored one. */
export type Computed = (ctx: RequestContext, key: ObjectKey) => Promise<KubeObject | undefined>

/** The dependencies of resources. */
export interface Wiring extends Versions {
  cacheOf(resource: StoredResource): ResourceCache
  storeOf(place: ObjectStoreOptions): ObjectStore
  openerOf: ClusterApis['openerOf']
  readonly admission: RegistryAdmission
  readonly ends: WatchEnds
  /** By `<plural>.<group>`. */
  readonly computed: Readonly<Record<string, Computed>>
  /** The storage of bound resources with virtual storage. */
  virtual(resource: GroupVersionResource): ResourceStorage
  /** Subresources with their own storage, by `<plural>.<group>`. */
  readonly subresources: Readonly<Record<string, readonly Subresource[]>>
}

/** The stored resource of a served definition. */
const storedResource = ({ definition: { group, names }, segment }: ServedDefinition): StoredResource => ({
  group,
  resource: names.plural,
  segment,
})

/** Makes the ApiResources of definitions, once for each definition. */
export function resourceMaker(wiring: Wiring): ResourcesOf {
  const made = new WeakMap<ServedDefinition, readonly ApiResource[]>()
  return served => {
    const known = made.get(served) ?? makeResources(wiring, served)
    made.set(served, known)
    return known
  }
}

function makeResources(wiring: Wiring, served: ServedDefinition): readonly ApiResource[] {
  const { definition, rest } = served
  if (served.isVirtual) {
    const { group, names } = definition
    return readOnlyResourcesOf(definition, version =>
      wiring.virtual({ group, version, resource: names.plural }),
    )
  }
  const storage = (version: string, subresource?: 'status' | 'scale'): ResourceStorage =>
    subresource === 'scale'
      ? scaleOf(wiring, served, version)
      : endpoint(wiring, served, version, subresource ?? '')
  const fields = servedKind(served, storageVersionOf(definition)).fields
  return apiResourcesOf(definition, {
    storage,
    custom: rest.custom,
    unconditionalUpdate: rest.unconditionalUpdate,
    createOnUpdate: rest.createOnUpdate,
    deleteReturnsObject: rest.deleteReturnsObject,
    ...(rest.complete === undefined ? {} : { complete: rest.complete }),
    ...(rest.resetFields === undefined ? {} : { resetFields: rest.resetFields }),
    ...(fields === undefined || rest.custom ? {} : { selectableFields: fields }),
    subresources: subresourcesOf(wiring, served),
  }).map(resource => ({
    ...resource,
    ...strategicMergePatch(served),
    ...converting(wiring, served),
    ...verbsInDiscovery(served),
  }))
}

const converting = (wiring: Wiring, served: ServedDefinition): Pick<ApiResource, 'convert'> =>
  served.definition.versions.length < 2 ? {} : { convert: kindVersions(wiring, served).convert }

const strategicMergePatch = ({
  rest,
  definition,
}: ServedDefinition): Pick<ApiResource, 'strategicMergePatch'> =>
  rest.custom && kubernetesGroups.has(definition.group) ? { strategicMergePatch: true } : {}

const verbsInDiscovery = ({ terminating }: ServedDefinition): Pick<ApiResource, 'discoveryVerbs'> =>
  terminating ? { discoveryVerbs: terminatingVerbs } : {}

/** In discovery, as kcp's `pkg/server/aggregatingcrdversiondiscovery`; updates that remove finalizers are served. */
const terminatingVerbs: readonly Verb[] = ['delete', 'deletecollection', 'get', 'list', 'watch']

function scaleOf(wiring: Wiring, served: ServedDefinition, version: string): ResourceStorage {
  const paths = served.definition.versions.find(v => v.name === version)?.scale
  if (paths === undefined) return endpoint(wiring, served, version, '')
  const { group, names, versions } = served.definition
  const { admission } = wiring
  const main = endpoint({ ...wiring, admission: scaleAdmission(admission, paths) }, served, version, '')
  const kind = { group, resource: names.plural, version, versions: kindVersions(wiring, served) }
  const replicas = new Map(versions.map(v => [apiVersionOf(group, v.name), replicasPath(v.scale)]))
  const scaling = { paths, apiVersion: apiVersionOf(group, version), replicas }
  return scaleStorage(main, scaling, scaleMutation(admission, kind))
}

/** The storage of one version of a resource, or of the part of it that a subresource writes. */
function endpoint(wiring: Wiring, served: ServedDefinition, version: string, part: Part): ResourceStorage {
  const { group, names } = served.definition
  if (group === 'events.k8s.io') {
    return groupEventStorage(endpoint(wiring, builtinServed(coreEvents), version, part))
  }
  const cache = wiring.cacheOf(storedResource(served))
  const kind = servedKind(served, version)
  const shape = shapeOf(served.definition)
  const show = presented({ isPlain: () => shape.covers(cache), item: shape.of })
  const storage = (isStored: boolean): ResourceStorage => {
    const registry = registryOf(wiring, served, { version, part, isStored })
    const direct = registryStorage(registry, { group, resource: names.plural, cache, kind, show })
    return inVersion(wiring, direct, served, { kind, version, part, isStored })
  }
  const isStored = isStoredAs(served, version)
  const converting = lazily(() => storage(false))
  const versioned =
    isStored && mayHaveOthers(served)
      ? either(() => shape.isOnly(cache), storage(true), converting)
      : storage(isStored)
  return withWatchEnds(withComputed(wiring, served, versioned), wiring.ends, served)
}

/** One version of a resource, and whether all its objects are taken to be stored in it. */
interface StoredEndpoint extends VersionEndpoint {
  readonly isStored: boolean
}

/** Converts items to a version when they are read; most are stored in that version. */
function inVersion(
  wiring: Wiring,
  storage: ResourceStorage,
  served: ServedDefinition,
  { kind, isStored, ...endpoint }: StoredEndpoint & { readonly kind: ServedKind },
): ResourceStorage {
  const { version } = endpoint
  if (isStored) return storage
  if (isWrittenAsStored(served)) return ownVersion(storage, served, endpoint)
  const { present } = wiring.conversionOf(served)
  return convertedReads(storage, items => present(items, version), kind)
}

/** Reads computed objects before stored ones. */
function withComputed(
  { computed }: Wiring,
  served: ServedDefinition,
  storage: ResourceStorage,
): ResourceStorage {
  const name = servedName(served)
  return {
    ...storage,
    get: (ctx, key) => {
      const compute = computed[name]
      if (compute === undefined) return storage.get(ctx, key)
      return compute(ctx, key).then(object =>
        object === undefined ? storage.get(ctx, key) : itemOf(object, key.cluster),
      )
    },
  }
}

function registryOf(
  wiring: Wiring,
  served: ServedDefinition,
  { version, part, isStored }: StoredEndpoint,
): Registry {
  const { group, names, namespaced, versions } = served.definition
  const written = isWrittenAsStored(served) ? storageVersionOf(served.definition) : version
  const rules = versions.find(each => each.name === written)
  return {
    group,
    resource: names.plural,
    version,
    versions: kindVersions(wiring, served),
    part,
    store: storeIn(wiring, served, written, isStored || isWrittenAsStored(served)),
    admission: wiring.admission,
    rules: {
      strategy: {
        group,
        resource: names.plural,
        kind: names.kind,
        namespaced,
        status: rules?.status ?? false,
        rest: rules?.scale === undefined ? served.rest : withScaleRules(served.rest, rules.scale),
      },
      schema: compileCached(rules?.schema ?? {}),
      terminating: served.terminating,
    },
  }
}

function kindVersions({ conversionOf }: Wiring, served: ServedDefinition): KindVersions {
  return {
    served: served.definition.versions.filter(version => version.served).map(({ name }) => name),
    convert: async (object, version) => (await conversionOf(served).convert([object], version))[0] ?? object,
    decode: async (patched, version) =>
      (await inTurns(decodeSteps(patched, decodableOf(served, version)), new Pace())).object,
  }
}

function decodableOf({ definition, rest }: ServedDefinition, version: string): Decodable {
  const { group, names, versions } = definition
  const { schema = {} } = versions.find(each => each.name === version) ?? {}
  return {
    group,
    version,
    kind: names.kind,
    schema: compileCached(schema),
    resource: { custom: rest.custom, names, ...(rest.complete && { complete: rest.complete }) },
  }
}

/** The store of a resource, seen in one version. `isStored`: all objects are in it. */
function storeIn(wiring: Wiring, served: ServedDefinition, version: string, isStored: boolean): ObjectStore {
  const store = wiring.storeOf({
    resource: storedResource(served),
    shape: shapeOf(served.definition),
    ...((served.isCustom || served.identity !== undefined) && { openerOf: wiring.openerOf(served) }),
  })
  if (isStored) return store
  const { present, stored } = wiring.conversionOf(served)
  const { group } = served.definition
  const storedAs = apiVersionOf(group, storageVersionOf(served.definition))
  return versionedObjectStore(store, {
    present: async item => (await present([item], version))[0] ?? item,
    stored,
    isStored: ({ apiVersion }) => apiVersion === storedAs,
  })
}

/** Subresources of one built-in kind only: name, verbs, and the part of the object that it writes. */
const ownSubresources: Readonly<Record<string, readonly [name: string, verbs: readonly Verb[], part: Part]>> =
  {
    namespaces: ['finalize', ['update'], 'finalize'],
    'certificatesigningrequests.certificates.k8s.io': ['approval', subresourceVerbs, 'approval'],
  }

function subresourcesOf(wiring: Wiring, served: ServedDefinition): readonly Subresource[] {
  if (served.rest.custom) return []
  const others = wiring.subresources[servedName(served)] ?? []
  const own = ownSubresources[servedName(served)]
  if (own === undefined) return others
  const [name, verbs, part] = own
  const { definition } = served
  const stored = definition.versions.find(version => version.storage)
  const mine: Subresource = {
    name,
    kind: definition.names.kind,
    verbs,
    storage: endpoint(wiring, served, stored?.name ?? '', part),
    schema: compileCached(stored?.schema ?? {}),
  }
  return [mine, ...others]
}
