import { createHash } from 'node:crypto'
import type { ApiResource, ResetFields, ResourceNames, Subresource } from '../framework/contract/apis.ts'
import type { ResourceStorage } from '../framework/contract/storage.ts'
import type { JSONSchemaProps } from '../framework/meta/jsonschema.ts'
import { apiVersionOf, groupResource, type KubeObject } from '../framework/meta/object.ts'
import type { Params } from '../framework/request/path.ts'
import type { Verb } from '../framework/request/requestinfo.ts'
import type { DefinedNames } from '../kcp/apis.ts'
import { columnsOf, selectableFieldsOf } from './columns.ts'
import { compileCached } from './compile.ts'
import { type WebhookService, webhookUrl } from './crd/conversion.ts'
import {
  type ConversionWebhook,
  type KindDefinition,
  type KindVersion,
  nameOfKind,
  type PrinterColumn,
} from './definitions/definition.ts'
import { reviewKinds } from './definitions/kubernetes/index.ts'
import { scaleSchema } from './definitions/kubernetes/reviews.ts'

/** All verbs of a stored resource, in the order of Kubernetes (rules.md 8.6). */
export const allVerbs: readonly Verb[] = [
  'delete',
  'deletecollection',
  'get',
  'list',
  'patch',
  'create',
  'update',
  'watch',
]

/** Namespaces are deleted one by one, as in Kubernetes: a collection would be all that a workspace has. */
const verbsOf = (definition: KindDefinition, custom: boolean): readonly Verb[] =>
  !custom && nameOfKind(definition) === 'namespaces'
    ? allVerbs.filter(verb => verb !== 'deletecollection')
    : allVerbs

/** Verbs of the status and scale subresources. */
export const subresourceVerbs: readonly Verb[] = ['get', 'patch', 'update']

/** The parts that a definition lacks: the storage of a resource, and the behavior of its endpoints. */
export interface ResourceWiring<P extends Params = Params> {
  storage(version: string, subresource?: 'status' | 'scale'): ResourceStorage<P>
  readonly custom: boolean
  readonly verbs?: readonly Verb[]
  readonly unconditionalUpdate?: boolean
  readonly createOnUpdate?: boolean
  readonly deleteReturnsObject?: boolean
  readonly complete?: (object: KubeObject) => KubeObject
  readonly resetFields?: ResetFields
  readonly selectableFields?: ApiResource['selectableFields']
  /** Other subresources, such as namespaces/finalize. */
  readonly subresources?: readonly Subresource<P>[]
}

/** One ApiResource per served version of a definition. Equal schemas are shared. */
export const apiResourcesOf = <P extends Params>(
  definition: KindDefinition,
  wiring: ResourceWiring<P>,
): readonly ApiResource<P>[] =>
  definition.versions.filter(v => v.served).map(version => apiResourceOf(definition, version, wiring))

/** Read-only resources. The status subresource is listed without verbs. */
export const readOnlyResourcesOf = <P extends Params>(
  definition: KindDefinition,
  storage: (version: string) => ResourceStorage<P>,
): readonly ApiResource<P>[] =>
  apiResourcesOf(definition, { storage, custom: true, verbs: ['get', 'list', 'watch'] }).map(resource => ({
    ...resource,
    subresources: resource.subresources
      .filter(({ name }) => name === 'status')
      .map(status => ({ ...status, verbs: [] })),
  }))

function apiResourceOf<P extends Params>(
  definition: KindDefinition,
  version: KindVersion,
  wiring: ResourceWiring<P>,
): ApiResource<P> {
  const { group, names, namespaced } = definition
  const selectable = wiring.selectableFields ?? selectableFieldsOf(version.selectableFields ?? [])
  return {
    group,
    version: version.name,
    names,
    namespaced,
    verbs: wiring.verbs ?? verbsOf(definition, wiring.custom),
    storage: wiring.storage(version.name),
    schema: compileCached(version.schema),
    columns: columnsOf(version.columns),
    subresources: [...standardSubresources(definition, version, wiring), ...(wiring.subresources ?? [])],
    storageVersionHash: storageVersionHash(definition),
    custom: wiring.custom,
    unconditionalUpdate: wiring.unconditionalUpdate ?? false,
    createOnUpdate: wiring.createOnUpdate ?? false,
    deleteReturnsObject: wiring.deleteReturnsObject ?? false,
    ...(wiring.complete === undefined ? {} : { complete: wiring.complete }),
    ...(wiring.resetFields === undefined ? {} : { resetFields: wiring.resetFields }),
    selectableFields: selectable,
    ...(version.deprecationWarning === undefined ? {} : { deprecationWarning: version.deprecationWarning }),
    openapi: { ...version.schema },
  }
}

function standardSubresources<P extends Params>(
  definition: KindDefinition,
  version: KindVersion,
  wiring: ResourceWiring<P>,
): readonly Subresource<P>[] {
  const status: Subresource<P>[] = version.status
    ? [
        {
          name: 'status',
          kind: definition.names.kind,
          verbs: subresourceVerbs,
          storage: wiring.storage(version.name, 'status'),
          schema: compileCached(version.schema),
        },
      ]
    : []
  const scale: Subresource<P>[] = version.scale
    ? [
        {
          name: 'scale',
          group: 'autoscaling',
          version: 'v1',
          kind: 'Scale',
          verbs: subresourceVerbs,
          storage: wiring.storage(version.name, 'scale'),
          schema: compileCached(scaleSchema),
        },
      ]
    : []
  return [...status, ...scale]
}

/** Base64 of the first 8 bytes of SHA-256 over `<group>/<version>/<kind>` of the storage version (rules.md 8.4). */
function storageVersionHash(definition: KindDefinition): string {
  const version = definition.versions.find(v => v.storage)?.name ?? ''
  const text = `${definition.group}/${version}/${definition.names.kind}`
  return createHash('sha256').update(text).digest().subarray(0, 8).toString('base64')
}

interface SchemaVersion {
  readonly name: string
  readonly served: boolean
  readonly storage: boolean
  readonly deprecated?: boolean
  readonly deprecationWarning?: string
  readonly schema?: JSONSchemaProps & { readonly openAPIV3Schema?: JSONSchemaProps }
  readonly subresources?: { readonly status?: object; readonly scale?: NonNullable<KindVersion['scale']> }
  readonly additionalPrinterColumns?: readonly PrinterColumn[]
  readonly selectableFields?: readonly { readonly jsonPath: string }[]
}

interface SchemaSpec {
  readonly group: string
  readonly names: DefinedNames
  readonly scope: 'Cluster' | 'Namespaced'
  readonly versions: readonly SchemaVersion[]
  readonly conversion?: {
    readonly strategy?: string
    readonly webhook?: {
      readonly clientConfig?: {
        readonly url?: string
        readonly service?: WebhookService
        readonly caBundle?: string
      }
      readonly conversionReviewVersions?: readonly string[]
    }
  }
}

/** The definition in a valid CustomResourceDefinition or APIResourceSchema. */
export function definitionOf(object: KubeObject): KindDefinition {
  const spec = object.spec as SchemaSpec
  return {
    group: spec.group,
    names: fullNames(spec.names),
    namespaced: spec.scope === 'Namespaced',
    versions: spec.versions.map(version => versionOf(spec, version)),
    ...conversionOf(spec),
  }
}

function conversionOf({ conversion }: SchemaSpec): { readonly conversion?: ConversionWebhook } {
  if (conversion?.strategy !== 'Webhook') return {}
  const { clientConfig = {}, conversionReviewVersions = [] } = conversion.webhook ?? {}
  const { caBundle } = clientConfig
  return {
    conversion: {
      url: webhookUrl(clientConfig),
      ...(caBundle === undefined ? {} : { caBundle }),
      reviewVersions: conversionReviewVersions,
    },
  }
}

const fullNames = (names: DefinedNames): ResourceNames => ({
  ...names,
  singular: names.singular || names.kind.toLowerCase(),
  listKind: names.listKind || `${names.kind}List`,
})

function versionOf(spec: SchemaSpec, version: SchemaVersion): KindVersion {
  const warning = deprecationOf(spec, version)
  return {
    name: version.name,
    served: version.served,
    storage: version.storage,
    schema: version.schema?.openAPIV3Schema ?? version.schema ?? {},
    columns: version.additionalPrinterColumns ?? [],
    status: version.subresources?.status !== undefined,
    ...(version.subresources?.scale === undefined ? {} : { scale: version.subresources.scale }),
    ...(version.selectableFields === undefined ? {} : { selectableFields: version.selectableFields }),
    ...(warning === undefined ? {} : { deprecationWarning: warning }),
  }
}

/** The declared deprecation warning, or the default of Kubernetes (rules.md 7.44). */
function deprecationOf(spec: SchemaSpec, version: SchemaVersion): string | undefined {
  if (version.deprecated !== true) return undefined
  return (
    version.deprecationWarning ?? `${apiVersionOf(spec.group, version.name)} ${spec.names.kind} is deprecated`
  )
}

/** The review kinds that have a storage, by `<plural>.<group>`. Their only verb is create. */
export const reviewResourcesOf = (
  storages: Readonly<Record<string, ResourceStorage>>,
): readonly ApiResource[] =>
  reviewKinds.flatMap(kind => {
    const storage = storages[groupResource(kind.group, kind.names.plural)]
    if (storage === undefined) return []
    return apiResourcesOf(kind, { storage: () => storage, custom: false, verbs: ['create'] })
  })
