import { randomUUID } from 'node:crypto'
import type { KubeObject } from '../../framework/meta/object.ts'
import { bindingFinalizer, pathAnnotation } from '../../kcp/annotations.ts'
import { cacheGroup, migrationGroup, mountsGroup, tenancyGroup, topologyGroup } from '../../kcp/apigroups.ts'
import type { APIExport, BoundAPIResource } from '../../kcp/apis.ts'
import { isTrue, setConditions } from '../../kcp/conditions.ts'
import { exportHash, exportLabel } from '../../kcp/labels.ts'
import { identityHash, newIdentityKey } from '../../kcp/names.ts'
import { resources, shardsExport } from '../../kcp/resources.ts'
import { apiResourceSchemaOf, type KindDefinition } from '../../openapi/definitions/definition.ts'
import { kcpKinds } from '../../openapi/definitions/kcp/index.ts'
import { mountKinds } from '../../openapi/definitions/kcp/kubecluster.ts'
import { identityKeyOf, identityNamespace, identitySecret } from '../controllers/identity.ts'
import { storedObject } from '../manifests/apply.ts'
import type { Manifest } from '../manifests/manifest.ts'
import type { Store } from '../store/store.ts'

/** An export of `root`: its name, and its schemas by kind (kcp `config/root-phase0`). */
interface RootExport {
  readonly name: string
  readonly schemas: Readonly<Record<string, string>>
  readonly maximalPermissionPolicy?: boolean
  readonly permissionClaims?: readonly object[]
  /** Not bound by default: workspaces bind it themselves. */
  readonly isOptional?: boolean
}

const rootExports: readonly RootExport[] = [
  {
    name: cacheGroup,
    schemas: {
      ClusterCachedResource: 'v250920-de0c8484d',
      ClusterCachedResourceEndpointSlice: 'v260804-b35f3bb61',
    },
    isOptional: true,
  },
  {
    name: migrationGroup,
    schemas: { LogicalClusterMigration: 'v260702-7381341f5' },
    isOptional: true,
  },
  { name: shardsExport, schemas: { Shard: 'v260302-ae9fdd9c1' } },
  {
    name: tenancyGroup,
    schemas: {
      Workspace: 'v260522-2bf05df66',
      WorkspaceType: 'v260519-96f2749',
      WorkspaceAuthenticationConfiguration: 'v250827-717cfea84',
    },
    maximalPermissionPolicy: true,
  },
  {
    name: topologyGroup,
    schemas: { Partition: 'v240903-d6797056a', PartitionSet: 'v240903-d6797056a' },
  },
  {
    name: mountsGroup,
    schemas: { KubeCluster: 'v261121-oriel' },
    permissionClaims: [{ group: '', resource: 'secrets', identityHash: '', verbs: ['get', 'list', 'watch'] }],
    isOptional: true,
  },
]

/** An export of root with its identity and all objects that belong to it. */
export interface BootstrappedExport {
  readonly name: string
  readonly identity: string
  readonly manifests: readonly Manifest[]
}

const root = 'root'
const inRoot = { annotations: { [pathAnnotation]: root } }

/** The exports of root with schemas and identities, already bound in `root`: no controller is needed. */
export const bootstrapExports = (store: Store): Promise<readonly BootstrappedExport[]> =>
  Promise.all(rootExports.map(each => bootstrapExport(store, each)))

async function bootstrapExport(store: Store, wanted: RootExport): Promise<BootstrappedExport> {
  const schemas = await Promise.all(
    Object.entries(wanted.schemas).map(([kind, prefix]) => schemaManifest(store, kind, prefix)),
  )
  const secret = await secretManifest(store, wanted.name)
  const exported = exportManifest(wanted, schemas)
  const known = (await storedObject(store, exported)) as APIExport | undefined
  const identity = known?.status?.identityHash ?? identityHash(identityKeyOf(secret.object))
  return {
    name: wanted.name,
    identity,
    manifests: [
      ...schemas,
      secret,
      withStatus(exported, { identityHash: identity, conditions: conditionsOf('IdentityValid') }),
      ...(wanted.isOptional === true ? [] : [bindingManifest(wanted, schemas, identity)]),
    ],
  }
}

const conditionsOf = (...types: readonly string[]): unknown => setConditions([], types.map(isTrue))

const withStatus = (manifest: Manifest, status: object): Manifest => ({
  ...manifest,
  object: { ...manifest.object, status },
})

function kindOf(name: string): KindDefinition {
  const kind = [...kcpKinds, ...mountKinds].find(({ names }) => names.kind === name)
  if (kind === undefined) throw new TypeError(`there is no kind ${name} of kcp`)
  return kind
}

/** With its present or future uid, which bindings need. */
async function schemaManifest(store: Store, kind: string, prefix: string): Promise<Manifest> {
  const schema = apiResourceSchemaOf(kindOf(kind), prefix)
  const object = { ...schema, spec: { ...(schema.spec as object), nameValidation: 'DNS1123Subdomain' } }
  const manifest = { cluster: root, resource: resources.apiResourceSchemas, object }
  const uid = (await storedObject(store, manifest))?.metadata.uid ?? randomUUID()
  return { ...manifest, object: { ...object, metadata: { ...object.metadata, uid } } }
}

/** The existing secret, or a new one. */
async function secretManifest(store: Store, name: string): Promise<Manifest> {
  const manifest = {
    cluster: root,
    resource: resources.secrets,
    object: identitySecret(name, newIdentityKey()),
  }
  const known = await storedObject(store, manifest)
  return known === undefined ? manifest : { ...manifest, object: known }
}

interface SchemaSpec {
  readonly group: string
  readonly names: { readonly plural: string }
  readonly versions: readonly { readonly name: string; readonly storage: boolean }[]
}

const specOf = ({ object }: Manifest): SchemaSpec => object.spec as SchemaSpec

function exportManifest(
  { name, maximalPermissionPolicy, permissionClaims }: RootExport,
  schemas: readonly Manifest[],
): Manifest {
  const offered = schemas.map(schema => ({
    name: specOf(schema).names.plural,
    group: specOf(schema).group,
    schema: schema.object.metadata.name,
    storage: { crd: {} },
  }))
  const object: KubeObject = {
    apiVersion: 'apis.kcp.io/v1alpha2',
    kind: 'APIExport',
    metadata: { name, ...inRoot },
    spec: {
      resources: offered,
      identity: { secretRef: { namespace: identityNamespace, name } },
      ...(maximalPermissionPolicy === true ? { maximalPermissionPolicy: { local: {} } } : {}),
      ...(permissionClaims === undefined ? {} : { permissionClaims }),
    },
  }
  return { cluster: root, resource: resources.apiExports, object }
}

export function bindingManifest(
  { name }: Pick<RootExport, 'name'>,
  schemas: readonly Manifest[],
  identity: string,
): Manifest {
  const object: KubeObject = {
    apiVersion: 'apis.kcp.io/v1alpha2',
    kind: 'APIBinding',
    metadata: {
      name,
      ...inRoot,
      labels: { [exportLabel]: exportHash({ cluster: root, name }) },
      finalizers: [bindingFinalizer],
    },
    spec: { reference: { export: { path: root, name } } },
    status: {
      apiExportClusterName: root,
      boundResources: schemas.map(schema => boundResource(schema, identity)),
      phase: 'Bound',
      conditions: conditionsOf('APIExportValid', 'BindingUpToDate', 'InitialBindingCompleted', 'Ready'),
    },
  }
  return { cluster: root, resource: resources.apiBindings, object }
}

function boundResource(schema: Manifest, identity: string): BoundAPIResource {
  const { group, names, versions } = specOf(schema)
  const { name = '', uid = '' } = schema.object.metadata
  return {
    group,
    resource: names.plural,
    schema: { name, UID: uid, identityHash: identity },
    storageVersions: versions.filter(version => version.storage).map(version => version.name),
  }
}
