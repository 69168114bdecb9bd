import type { ClusterName } from '../../../framework/meta/object.ts'
import type {
  APIBinding,
  APIExport,
  APIResourceSchema,
  BoundAPIResource,
  ExportedResource,
} from '../../../kcp/apis.ts'
import {
  type ConditionState,
  conditionIs,
  isFalse,
  isTrue,
  setConditions,
  summary,
} from '../../../kcp/conditions.ts'
import {
  heldMessage,
  namingConflict,
  type ResourceOwner,
  resourceName,
} from '../../bindings/namingconflicts.ts'
import type { BindingDependencies } from '../bindingdependencies.ts'
import { applyClaims } from './permissionclaims.ts'

type Status = NonNullable<APIBinding['status']>

/** Names of conditions. */
const initial = 'InitialBindingCompleted'
const upToDate = 'BindingUpToDate'
const exportValid = 'APIExportValid'

/** The reason of the conditions of a binding whose names others have. */
export const namingConflicts = 'NamingConflicts'

const contactOwner = 'Invalid APIExport. Please contact the APIExport owner to resolve'

/**
 * The next status of a binding (kcp `pkg/reconciler/apis/apibinding/apibinding_reconcile.go`). It changes with its
 * export also when it is Bound.
 */
export function bindingStatus(binding: APIBinding, dependencies: BindingDependencies): Status {
  const old = binding.status ?? {}
  const begun: Status = { ...old, phase: old.phase || 'Binding' }
  const { status, states } = step(binding, begun, dependencies)
  const waiting = isFalse(initial, 'Info', 'WaitingForEstablished', 'Waiting for API(s) to be established')
  const first = old.phase ? [] : [waiting]
  const done = conditionIs(old.conditions, initial, 'True')
  const next = states.filter(state => state.type !== initial || !done)
  const conditions = setConditions(old.conditions, merged([...first, ...next]))
  return { ...status, conditions: setConditions(conditions, [summary(conditions, [initial])]) }
}

/** Its path leads to another logical cluster than before: this APIBinding stays with the one whose permission was checked. */
const anotherExport = (id: string): string =>
  `the APIExport at ${id} is not the one that was bound: create a new APIBinding to bind it`

/** The last state of each type. */
const merged = (states: readonly ConditionState[]): readonly ConditionState[] => [
  ...new Map(states.map(state => [state.type, state])).values(),
]

interface Step {
  readonly status: Status
  readonly states: readonly ConditionState[]
}

function step(binding: APIBinding, status: Status, dependencies: BindingDependencies): Step {
  const reference = binding.spec?.reference?.export
  const invalid = (severity: 'Error' | 'Warning', reason: string, message: string): ConditionState =>
    isFalse(exportValid, severity, reason, message)
  if (!reference?.name)
    return { status, states: [invalid('Error', 'APIExportInvalidReference', 'Missing APIExport reference')] }
  const id = `${reference.path || dependencies.cluster}|${reference.name}`
  if (dependencies.exported === undefined) {
    const message = dependencies.isAnother ? anotherExport(id) : `APIExport ${id} not found`
    return { status, states: [invalid('Error', 'APIExportNotFound', message)] }
  }
  const { cluster, object } = dependencies.exported
  const claims = claimsOf(binding, object, dependencies)
  const claimed = { ...status, ...claims.status }
  const identityHash = object.status?.identityHash
  if (!identityHash) {
    const missing = `APIExport ${id} is missing status.identityHash`
    return {
      status: claimed,
      states: [...claims.states, invalid('Warning', 'MissingIdentityHash', missing)],
    }
  }
  const bound = bindResources(claimed, dependencies, { cluster, object, identityHash })
  return { status: bound.status, states: [...claims.states, ...bound.states] }
}

function claimsOf(binding: APIBinding, exported: APIExport, dependencies: BindingDependencies): Step {
  const asked = exported.spec?.permissionClaims ?? []
  const { applied, conditions } = applyClaims(
    asked,
    binding.spec?.permissionClaims ?? [],
    dependencies.isServed,
  )
  const { exportPermissionClaims: _, appliedPermissionClaims: __, ...rest } = binding.status ?? {}
  return {
    status: {
      ...rest,
      ...(asked.length === 0 ? {} : { exportPermissionClaims: asked }),
      ...(applied.length === 0 ? {} : { appliedPermissionClaims: applied }),
    },
    states: conditions,
  }
}

interface Exported {
  readonly cluster: ClusterName
  readonly object: APIExport
  readonly identityHash: string
}

function bindResources(old: Status, dependencies: BindingDependencies, exported: Exported): Step {
  const status = { ...old, apiExportClusterName: exported.cluster }
  const wanted = exported.object.spec?.resources ?? []
  const found = wanted.map(resource => ({
    resource,
    schema: dependencies.schema(exported.cluster, resource.schema),
  }))
  const missing = found.find(({ schema }) => schema === undefined)
  if (missing !== undefined) {
    const message = `${contactOwner}: APIResourceSchema "${missing.resource.schema}" not found`
    return { status, states: [isFalse(exportValid, 'Error', 'InternalError', message)] }
  }
  const held = new Map<string, ResourceOwner>()
  const bound = new Map((old.boundResources ?? []).map(resource => [resourceName(resource), resource]))
  for (const { resource, schema } of found) {
    const name = resourceName({ group: resource.group, resource: resource.name })
    const holder = dependencies.take(name)
    if (holder !== undefined) held.set(name, holder)
    if (holder !== undefined || schema === undefined) continue
    // What is bound already has its names.
    const isNew = bound.get(name)?.schema.UID !== schema.metadata.uid
    const conflict = isNew ? namingConflict(schema, dependencies.taken(schema)) : undefined
    if (conflict !== undefined) return refused(withBound(status, bound), `Unable to bind APIs: ${conflict}`)
    bound.set(name, boundResource(resource, schema, exported.identityHash, bound.get(name)))
  }
  if (held.size > 0) return refused(withBound(status, bound), heldMessage(held))
  return {
    status: { ...withBound(status, bound), phase: 'Bound' },
    states: [isTrue(exportValid), isTrue(initial), isTrue(upToDate)],
  }
}

const withBound = (status: Status, bound: ReadonlyMap<string, BoundAPIResource>): Status =>
  bound.size === 0 ? status : { ...status, boundResources: [...bound.values()] }

const refused = (status: Status, message: string): Step => ({
  status,
  states: [
    isTrue(exportValid),
    isFalse(initial, 'Error', namingConflicts, message),
    isFalse(upToDate, 'Error', namingConflicts, message),
  ],
})

function boundResource(
  { group, name, storage }: ExportedResource,
  { metadata, spec }: APIResourceSchema,
  identityHash: string,
  old: BoundAPIResource | undefined,
): BoundAPIResource {
  const stored = spec.versions.filter(version => version.storage).map(version => version.name)
  const versions = storage?.virtual === undefined ? [...(old?.storageVersions ?? []), ...stored] : []
  return {
    group,
    resource: name,
    schema: { name: metadata.name ?? '', UID: metadata.uid ?? '', identityHash },
    ...(versions.length === 0 ? {} : { storageVersions: [...new Set(versions)].sort() }),
  }
}
