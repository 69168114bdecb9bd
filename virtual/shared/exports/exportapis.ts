import type { ApiResource, Host, Item, Verb } from '../../../framework/index.ts'
import { type APIExport, apisGroup, type PermissionClaim } from '../../../kcp/index.ts'

import { apiResourcesOf, definitionOf } from '../../../openapi/index.ts'
import { type ClaimLenses, claimedGroup, claimLenses, ownBindingsLenses, seenThrough } from './claims.ts'
import { dependencyOn, type ExportParams, type Exports, exportOf, KeptApis, type Plan } from './exports.ts'

type Resource = ApiResource<ExportParams>
const readOnly: readonly Verb[] = ['get', 'list', 'watch']

/** A resource of an export, and a text that changes with it. */
interface Source {
  readonly group: string
  readonly plural: string
  readonly version: string
  resources(): readonly Resource[]
}

/**
 * The resources of an export: exported, claimed, and always `apibindings` (kcp
 * `pkg/virtual/apiexport/controllers/apireconciler`).
 */
export function sourcesOf(host: Host, exports: Exports, params: ExportParams): readonly Source[] {
  const object = exports.find(params)
  const identity = object?.status?.identityHash
  if (object === undefined || !identity) return []
  const own = ownSources(host, exports, params, object)
  const claimed = (object.spec?.permissionClaims ?? []).flatMap(claim =>
    claimSources(host, exports, params, claim),
  )
  return firstOfEach([...own, ...claimed, ...ownBindingSource(host, params)])
}

/** The first source of a resource is used: exported resources before claims, and the first of several claims. */
function firstOfEach(sources: readonly Source[]): readonly Source[] {
  const byResource = new Map<string, Source>()
  for (const source of sources) {
    const key = `${source.group}/${source.plural}`
    if (!byResource.has(key)) byResource.set(key, source)
  }
  return [...byResource.values()]
}

/** The exported resources; the identity isolates their objects. */
const ownSources = (
  host: Host,
  exports: Exports,
  params: ExportParams,
  object: APIExport,
): readonly Source[] =>
  (object.spec?.resources ?? []).flatMap(resource => {
    const schema = exports.schemas.get(params.provider, '', resource.schema)
    return schema === undefined ? [] : [schemaSource(host, schema, object.status?.identityHash ?? '')]
  })

/** A claim on a built-in resource, or by identity on a resource of another export. */
function claimSources(
  host: Host,
  exports: Exports,
  params: ExportParams,
  claim: PermissionClaim,
): readonly Source[] {
  const lenses = claimLenses(exportOf(params), claim)
  if (!claim.identityHash)
    return claimedGroups(claim).flatMap(group => systemSource(host, group, claim.resource, lenses))
  const schema = schemaOfIdentity(exports, claim)
  return schema === undefined ? [] : [schemaSource(host, schema, claim.identityHash, lenses)]
}

/** A claim on events serves both groups. */
const claimedGroups = (claim: PermissionClaim): readonly string[] =>
  claim.resource === 'events' && claimedGroup(claim.group, claim.resource) === ''
    ? ['', 'events.k8s.io']
    : [claimedGroup(claim.group, claim.resource)]

/** The exports, by logical cluster and name, that have this identity and export the resource. */
const offersOf = (
  exports: Exports,
  claim: PermissionClaim,
): readonly { readonly cluster: string; readonly schema: string }[] =>
  exports.byIdentity(claim.identityHash ?? '').flatMap(({ key: { cluster }, object }) => {
    const resources = (object as APIExport).spec?.resources ?? []
    const found = resources.find(each => each.group === claim.group && each.name === claim.resource)
    return found === undefined ? [] : [{ cluster, schema: found.schema }]
  })

/** The schema of the first of these exports that has it. */
function schemaOfIdentity(exports: Exports, claim: PermissionClaim): Item | undefined {
  for (const { cluster, schema } of offersOf(exports, claim)) {
    const found = exports.schemas.get(cluster, '', schema)
    if (found !== undefined) return found
  }
  return undefined
}

function schemaSource(host: Host, schema: Item, identity: string, lenses?: ClaimLenses): Source {
  const definition = definitionOf(schema.object)
  const { group, names } = definition
  return {
    group,
    plural: names.plural,
    version: `${schema.meta.uid}/${schema.meta.resourceVersion}/${identity}/${lenses === undefined ? 'own' : 'claimed'}`,
    resources: () =>
      apiResourcesOf<ExportParams>(definition, {
        custom: true,
        storage: (version, subresource) => {
          const storage = host.backend.storage({
            group,
            version,
            resource: names.plural,
            identity,
            ...(subresource && { subresource }),
          })
          return lenses === undefined ? storage : seenThrough(storage, lenses)
        },
      }),
  }
}

/** A built-in resource through a lens, with its schema and verbs, and with a kind in list items as in kcp's view. */
function systemSource(host: Host, group: string, plural: string, lenses: ClaimLenses): readonly Source[] {
  const served =
    host.backend.apis('*')?.resources.filter(r => r.group === group && r.names.plural === plural) ?? []
  const through = (resource: ApiResource): Resource => ({
    ...resource,
    itemsHaveKind: true,
    storage: seenThrough(resource.storage, lenses),
    subresources: resource.subresources
      .filter(s => s.name === 'status')
      .map(s => ({ ...s, storage: seenThrough(s.storage, lenses) })),
  })
  return served.length === 0
    ? []
    : [{ group, plural, version: 'claimed', resources: () => served.map(through) }]
}

/** The bindings to the export, readable without a claim. */
const ownBindingSource = (host: Host, params: ExportParams): readonly Source[] =>
  systemSource(host, apisGroup, 'apibindings', ownBindingsLenses(exportOf(params))).map(source => ({
    ...source,
    version: 'read-only',
    resources: () => source.resources().map(r => ({ ...r, verbs: readOnly, subresources: [] })),
  }))

/** The ApiSets of all exports. `replaced` is called when that of an export has changed. */
export function exportApis(
  host: Host,
  exports: Exports,
  replaced?: (params: ExportParams) => void,
): KeptApis<ExportParams> {
  const planOf = (params: ExportParams): Plan<ExportParams> | undefined => {
    const sources = sourcesOf(host, exports, params)
    if (sources.length === 0) return undefined
    return {
      version: versionOf(sources),
      dependsOn: dependenciesOf(exports, params),
      resources: () => sources.flatMap(source => source.resources()),
    }
  }
  const apis = new KeptApis<ExportParams>(planOf, replaced)
  exports.exports.onEvent(({ item, previous = item }) =>
    apis.refresh([ownKey(item.key), ...[item, previous].flatMap(identityKeys)]),
  )
  exports.schemas.onEvent(({ item }) => apis.refresh([schemaKey(item.key.cluster, item.key.name)]))
  return apis
}

/** The export, its schemas, and those that may be found for its claims. */
function dependenciesOf(exports: Exports, params: ExportParams): readonly string[] {
  const { resources = [], permissionClaims = [] } = exports.find(params)?.spec ?? {}
  const own = resources.map(({ schema }) => schemaKey(params.provider, schema))
  const claimed = permissionClaims.flatMap(claim => [
    ...(claim.identityHash ? [identityKey(claim.identityHash)] : []),
    ...offersOf(exports, claim).map(({ cluster, schema }) => schemaKey(cluster, schema)),
  ])
  return [ownKey(exportOf(params)), ...own, ...claimed]
}

const ownKey = (of: { readonly cluster: string; readonly name: string }): string => dependencyOn('export', of)
const schemaKey = (cluster: string, name: string): string => dependencyOn('schema', { cluster, name })
const identityKey = (hash: string): string => `identity|${hash}`
const identityKeys = ({ object }: Item): readonly string[] => {
  const hash = (object as APIExport).status?.identityHash
  return hash ? [identityKey(hash)] : []
}

const versionOf = (sources: readonly Source[]): string =>
  sources.map(s => `${s.group}/${s.plural}=${s.version}`).join(';')
