import type { Authorizer } from '../framework/authorizer.ts'
import type { RequestContext } from '../framework/context.ts'
import { forbidden } from '../framework/errors.ts'
import type { KubeObject } from '../framework/object.ts'
import { isPrivileged, type UserInfo } from '../framework/user.ts'
import type { Admission, AdmissionRequest } from '../framework/workspace.ts'
import { bindingIn, rbacGroup, rulesIn } from './objects.ts'
import type { PolicyRule } from './policyrule.ts'
import type { RbacSource } from './rbacsource.ts'
import { printRule, rulesOf, rulesOfRole, uncovered } from './ruleslist.ts'

const roles = new Set(['roles', 'clusterroles'])
const bindings = new Set(['rolebindings', 'clusterrolebindings'])
const everything: readonly PolicyRule[] = [
  { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
  { verbs: ['*'], nonResourceURLs: ['*'] },
]

/**
 * Nobody grants what he does not hold (chapter 40, rule 9.25): writing a role needs all its rules or the verb `escalate`,
 * writing a binding all rules of its role or the verb `bind` on it. For the four RBAC kinds; others pass.
 */
export function escalationPrevention(rbac: RbacSource, authorizer: Authorizer): Admission {
  return {
    validate: async (ctx, request) => {
      const { object, old } = request
      if (object === undefined || !ctx.info.isResource || ctx.info.group !== rbacGroup) return
      if (isPrivileged(ctx.actAs) || (old !== undefined && grantsTheSame(object, old))) return
      const { resource } = ctx.info
      if (roles.has(resource)) await checkRole(rbac, authorizer, ctx, request)
      if (bindings.has(resource)) await checkBinding(rbac, authorizer, ctx, object)
    },
  }
}

/** Changes of metadata grant nothing. */
const grantsTheSame = (object: KubeObject, old: KubeObject): boolean => granting(object) === granting(old)

const granting = ({ rules, aggregationRule, roleRef, subjects }: KubeObject): string =>
  JSON.stringify([rules ?? [], aggregationRule ?? null, roleRef ?? null, subjects ?? []])

async function checkRole(
  rbac: RbacSource,
  authorizer: Authorizer,
  ctx: RequestContext,
  { object, old }: AdmissionRequest,
): Promise<void> {
  if (object === undefined || !ctx.info.isResource) return
  const role = {
    resource: ctx.info.resource,
    name: object.metadata.name ?? '',
    namespace: namespaceOf(ctx, object),
  }
  if (await permitted(authorizer, ctx, 'escalate', role)) return
  // Who writes the aggregation rule decides which rules a controller will copy: any.
  const aggregates = object.aggregationRule != null && aggregation(object) !== aggregation(old)
  confirm(rbac, ctx, object, aggregates ? [...rulesIn(object), ...everything] : rulesIn(object))
}

const aggregation = (object: KubeObject | undefined): string =>
  JSON.stringify(object?.aggregationRule ?? null)

async function checkBinding(
  rbac: RbacSource,
  authorizer: Authorizer,
  ctx: RequestContext,
  object: KubeObject,
): Promise<void> {
  const binding = bindingIn(object)
  if (binding === undefined) return
  const namespace = namespaceOf(ctx, object)
  const { kind, name } = binding.role
  const resource = kind === 'Role' ? 'roles' : 'clusterroles'
  if (await permitted(authorizer, ctx, 'bind', { resource, name, namespace })) return
  confirm(rbac, ctx, object, rulesOfRole(rbac, ctx.cluster, { kind, name, namespace }))
}

const namespaceOf = (ctx: RequestContext, object: KubeObject): string =>
  object.metadata.namespace ?? (ctx.info.isResource ? ctx.info.namespace : '')

async function permitted(
  authorizer: Authorizer,
  ctx: RequestContext,
  verb: 'escalate' | 'bind',
  role: { readonly resource: string; readonly name: string; readonly namespace: string },
): Promise<boolean> {
  const resource = { group: rbacGroup, version: 'v1', subresource: '', ...role }
  const decision = await authorizer.authorize(ctx.actAs, { verb, cluster: ctx.cluster, resource }, ctx.signal)
  return decision.effect === 'allow'
}

/** Throws `forbidden` unless the user holds all of `wanted`, in the namespace of the object if it has one. */
function confirm(
  rbac: RbacSource,
  ctx: RequestContext,
  object: KubeObject,
  wanted: readonly PolicyRule[],
): void {
  const held = rulesOf(rbac, ctx.actAs, ctx.cluster, namespaceOf(ctx, object))
  const missing = uncovered(held, wanted)
  if (missing.length === 0) return
  const resource = ctx.info.isResource ? ctx.info.resource : ''
  const about = { group: rbacGroup, resource, name: object.metadata.name ?? '' }
  throw forbidden(about, `${whoGrants(ctx.actAs)}:\n${compacted(missing).join('\n')}`)
}

const whoGrants = ({ name, groups }: UserInfo): string =>
  `user ${JSON.stringify(name)} (groups=[${groups.map(g => JSON.stringify(g)).join(' ')}]) is attempting to grant RBAC permissions not currently held`

/** Rules that differ only in their verb become one, printed and sorted. */
function compacted(rules: readonly PolicyRule[]): readonly string[] {
  const verbs = new Map<string, { rule: PolicyRule; verbs: string[] }>()
  for (const rule of rules) {
    const key = printRule({ ...rule, verbs: [] })
    const entry = verbs.get(key) ?? { rule, verbs: [] }
    verbs.set(key, {
      rule,
      verbs: [...entry.verbs, ...rule.verbs.filter(verb => !entry.verbs.includes(verb))],
    })
  }
  return [...verbs.values()].map(({ rule, verbs }) => printRule({ ...rule, verbs })).sort()
}
