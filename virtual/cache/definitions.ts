import {
  type ApiResource,
  type ApiSet,
  apiSetOf,
  type Host,
  type ResourceStorage,
  readOnly,
} from '../../framework/index.ts'
import { apisGroup, cacheGroup, resources, tenancyGroup } from '../../kcp/index.ts'
import { kcpKinds, readOnlyResourcesOf } from '../../openapi/index.ts'
import { workspaceTypesRef } from '../shared/exports/tenancy.ts'

/** Resources that shards share: exports, published resources and workspace types. */
export function definitionsOf(host: Host): ApiSet {
  const all = host.backend.apis('*')?.resources ?? []
  return apiSetOf([...all.filter(isDefinition), ...typesOf(host)].map(readable))
}

const isDefinition = ({ group, names }: ApiResource): boolean =>
  (group === apisGroup && names.plural !== 'apibindings') || group === cacheGroup

const types = { group: tenancyGroup, resource: 'workspacetypes' }

/** Workspace types, which clients of this view read without an identity hash. */
function typesOf({ backend, informers }: Host): readonly ApiResource[] {
  const exports = informers.for(resources.apiExports)
  const storage = (): ResourceStorage => backend.storage(workspaceTypesRef(exports))
  const reads = readOnly(types, {
    get: (ctx, key) => storage().get(ctx, key),
    list: (ctx, query) => storage().list(ctx, query),
    watch: (ctx, query) => storage().watch(ctx, query),
  })
  return kcpKinds
    .filter(({ group, names }) => group === types.group && names.plural === types.resource)
    .flatMap(kind => readOnlyResourcesOf(kind, () => reads))
}

export const readable = (resource: ApiResource): ApiResource => ({
  ...resource,
  verbs: ['get', 'list', 'watch'],
  subresources: [],
})
