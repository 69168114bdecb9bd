import { inTurns, Pace } from '../../framework/async/awaitable.ts'
import type { Authorizer } from '../../framework/contract/authorizer.ts'
import type { RequestContext } from '../../framework/contract/context.ts'
import { forbidden, invalid, notFound, type StatusError } from '../../framework/meta/errors.ts'
import type { KubeObject, ObjectKey } from '../../framework/meta/object.ts'
import { isPrivileged, type UserInfo } from '../../framework/request/user.ts'
import type { PolicyRule } from './policyrule.ts'
import { bindingIn, type RbacSource, rbacGroup, record, rulesIn, text } from './rbacsource.ts'
import { printRule, rulesOfRole, rulesSteps, uncoveredSteps } from './ruleslist.ts'

const roles = new Set(['roles', 'clusterroles'])
const bindings = new Set(['rolebindings', 'clusterrolebindings'])
const everything: readonly PolicyRule[] = [
  { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
  { verbs: ['*'], nonResourceURLs: ['*'] },
]

/** A write of an RBAC object. `object` is absent on delete, `old` on create. */
export interface RbacWrite {
  readonly group: string
  readonly resource: string
  readonly key: ObjectKey
  readonly object?: KubeObject
  readonly old?: KubeObject
}

/** The input of the checks of one write. */
interface Granting extends RbacWrite {
  readonly ctx: RequestContext
  readonly object: KubeObject
  readonly rbac: RbacSource
  readonly authorizer: Authorizer
}

/**
 * Prevents privilege escalation (rules.md 9.25; `pkg/registry/rbac/…/policybased` of Kubernetes): writing a role needs
 * all its rules or the verb `escalate`, writing a binding all rules of its role or the verb `bind`.
 */
export const escalationPrevention = (rbac: RbacSource, authorizer: Authorizer) => ({
  name: 'escalation prevention',
  handles: { resources: [...roles, ...bindings].map(resource => `${resource}.${rbacGroup}`) },
  permit: async (ctx: RequestContext, write: RbacWrite): Promise<void> => {
    const { group, resource, object, old } = write
    if (object === undefined || group !== rbacGroup || isPrivileged(ctx.actAs)) return
    if (old !== undefined && grantsTheSame(object, old)) return
    const granting = { ...write, ctx, object, rbac, authorizer }
    if (roles.has(resource)) await checkRole(granting)
    if (bindings.has(resource)) await checkBinding(granting)
  },
})

/** Whether two roles or bindings grant the same. By its labels, the rules of a ClusterRole become those of aggregated ones. */
export const grantsTheSame = (object: KubeObject, old: KubeObject): boolean =>
  granted(object) === granted(old)

const granted = (object: KubeObject): string => {
  const { kind, metadata, rules, aggregationRule, roleRef, subjects } = object
  const labels = kind === 'ClusterRole' ? Object.entries(metadata.labels ?? {}).sort() : []
  return JSON.stringify([rules ?? [], aggregationRule ?? null, roleRef ?? null, subjects ?? [], labels])
}

async function checkRole(granting: Granting): Promise<void> {
  const { object, old, resource, key } = granting
  if (await permitted(granting, 'escalate', { resource, name: key.name })) return
  // An aggregation rule may select any role, so it needs all permissions, and so does a change of what has one.
  const aggregates = object.aggregationRule != null || old?.aggregationRule != null
  await confirm(granting, aggregates ? [...rulesIn(object), ...everything] : rulesIn(object))
}

async function checkBinding(granting: Granting): Promise<void> {
  const asked = record(granting.object.roleRef).kind
  if (asked !== 'Role' && asked !== 'ClusterRole') throw noRole(granting)
  const binding = bindingIn(granting.object)
  if (binding === undefined) return
  const { kind, name } = binding.role
  const role = { resource: kind === 'Role' ? 'roles' : 'clusterroles', name }
  if (await permitted(granting, 'bind', role)) return
  const { cluster, namespace } = granting.key
  const rules = rulesOfRole(granting.rbac, cluster, { kind, name, namespace })
  // A binding to a missing role would grant whatever the role gets later. Kubernetes names the wrong resource here.
  if (rules === undefined) throw notFound({ group: rbacGroup, resource: granting.resource, name })
  await confirm(granting, rules)
}

/** Kubernetes looks for the role and answers 500. */
function noRole({ object, resource }: Granting): StatusError {
  const { kind } = record(object.roleRef)
  const kinds = resource === 'rolebindings' ? ['Role', 'ClusterRole'] : ['ClusterRole']
  const detail = `supported values: ${kinds.map(each => JSON.stringify(each)).join(', ')}`
  const error = { type: 'FieldValueNotSupported', field: 'roleRef.kind', value: text(kind), detail } as const
  return invalid(object.kind, rbacGroup, object.metadata.name ?? '', [error])
}

async function permitted(
  { authorizer, ctx, key: { cluster, namespace } }: Granting,
  verb: 'escalate' | 'bind',
  role: { readonly resource: string; readonly name: string },
): Promise<boolean> {
  const resource = { group: rbacGroup, version: 'v1', subresource: '', namespace, ...role }
  const decision = await authorizer.authorize(ctx.actAs, { verb, cluster, resource }, ctx.signal)
  return decision.effect === 'allow'
}

/** Throws `forbidden` unless the user holds all of `wanted`, in the namespace of the object if it has one. */
async function confirm({ rbac, ctx, key, resource }: Granting, wanted: readonly PolicyRule[]): Promise<void> {
  const pace = new Pace()
  const held = await inTurns(rulesSteps(rbac, ctx.actAs, key.cluster, key.namespace), pace)
  const missing = await inTurns(uncoveredSteps(held, wanted), pace)
  if (missing.length === 0) return
  const about = { group: rbacGroup, resource, name: key.name }
  throw forbidden(about, `${whoGrants(ctx.actAs)}:\n${compacted(missing).join('\n')}`)
}

const whoGrants = ({ name, groups }: UserInfo): string =>
  `user ${JSON.stringify(name)} (groups=[${groups.map(g => JSON.stringify(g)).join(' ')}]) is attempting to grant RBAC permissions not currently held`

/** Rules that differ only in their verb become one, printed and sorted. */
function compacted(rules: readonly PolicyRule[]): readonly string[] {
  const found = new Map<string, { readonly rule: PolicyRule; readonly verbs: Set<string> }>()
  for (const rule of rules) {
    const key = printRule({ ...rule, verbs: [] })
    const entry = found.get(key) ?? { rule, verbs: new Set() }
    for (const verb of rule.verbs) entry.verbs.add(verb)
    found.set(key, entry)
  }
  return [...found.values()].map(({ rule, verbs }) => printRule({ ...rule, verbs: [...verbs] })).sort()
}
