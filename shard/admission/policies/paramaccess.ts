import { isDeepStrictEqual } from 'node:util'
import type { AdmissionAttributes, AdmissionPlugin } from '../../../framework/contract/admission.ts'
import { resourceOfKind } from '../../../framework/contract/apis.ts'
import type { Action } from '../../../framework/contract/authorizer.ts'
import type { Backend } from '../../../framework/contract/backend.ts'
import type { RequestContext } from '../../../framework/contract/context.ts'
import type { Informers } from '../../../framework/contract/informer.ts'
import { invalid } from '../../../framework/meta/errors.ts'
import { forbidden } from '../../../framework/meta/fielderror.ts'
import { groupIn, type KubeObject, versionIn } from '../../../framework/meta/object.ts'
import type { BindingSpec, PolicySpec } from './policy.ts'
import { policyRef } from './source.ts'

export interface ParamAccessDeps {
  readonly informers: Informers
  readonly backend: Pick<Backend, 'apis' | 'authorizer'>
}

interface Needed {
  readonly field: 'spec.paramKind' | 'spec.paramRef'
  readonly action: Action
  readonly detail: string
}

const group = 'admissionregistration.k8s.io'
const policies: readonly string[] = ['validatingadmissionpolicies', 'mutatingadmissionpolicies']
const policiesOf: Readonly<Record<string, string>> = {
  validatingadmissionpolicybindings: 'validatingadmissionpolicies',
  mutatingadmissionpolicybindings: 'mutatingadmissionpolicies',
}

/**
 * A policy tells who writes what its parameters have: a user needs to read those of the policies and bindings that this user writes (`authz.go`
 * of `pkg/registry/admissionregistration/{validating,mutating}admissionpolic{y,ybinding}`).
 */
export const paramAccess = (deps: ParamAccessDeps): AdmissionPlugin => ({
  name: 'access to the parameters of policies',
  handles: {
    operations: ['CREATE', 'UPDATE'],
    resources: [...policies, ...Object.keys(policiesOf)].map(resource => `${resource}.${group}`),
  },
  async validate(ctx, request) {
    if (request.group !== group || request.subresource !== '' || request.operation === 'DELETE') return
    const needed = policies.includes(request.resource)
      ? neededByPolicy(deps, ctx, request)
      : neededByBinding(deps, ctx, request)
    if (needed !== undefined) await check(deps, ctx, request, needed)
  },
})

async function check(
  { backend }: ParamAccessDeps,
  ctx: RequestContext,
  { object, key }: AdmissionAttributes,
  { field, action, detail }: Needed,
): Promise<void> {
  const { effect } = await backend.authorizer.authorize(ctx.actAs, action, ctx.signal)
  if (effect !== 'allow') throw invalid(object?.kind ?? '', group, key.name, [forbidden(field, detail)])
}

const specOf = <T>(object: KubeObject | undefined): T | undefined => object?.spec as T | undefined

/** All objects of `spec.paramKind`, if it is new. */
function neededByPolicy(
  deps: ParamAccessDeps,
  { actAs }: RequestContext,
  { object, old, key }: AdmissionAttributes,
): Needed | undefined {
  const paramKind = specOf<PolicySpec>(object)?.paramKind
  if (paramKind === undefined || isDeepStrictEqual(paramKind, specOf<PolicySpec>(old)?.paramKind))
    return undefined
  const { apiVersion = '', kind = '' } = paramKind
  const who = `user ${JSON.stringify(actAs.name)}`
  return {
    field: 'spec.paramKind',
    action: readOf(deps, key.cluster, paramKind, { verb: 'get', namespace: '', name: '' }),
    detail: `${who} must have "get" permission on all objects of the referenced paramKind (kind=${kind}, apiVersion=${apiVersion})`,
  }
}

/** The objects of `spec.paramRef`, if it or the policy is new. */
function neededByBinding(
  deps: ParamAccessDeps,
  { actAs }: RequestContext,
  { object, old, key, resource }: AdmissionAttributes,
): Needed | undefined {
  const { paramRef, policyName = '' } = specOf<BindingSpec>(object) ?? {}
  const before = specOf<BindingSpec>(old)
  const isKnown = isDeepStrictEqual(paramRef, before?.paramRef) && policyName === before?.policyName
  if (paramRef === undefined || isKnown) return undefined
  const policy = deps.informers.for(policyRef(policiesOf[resource] ?? '')).get(key.cluster, '', policyName)
  const { name = '', namespace = '' } = paramRef
  const verb = name === '' ? 'list' : 'get'
  const paramKind = specOf<PolicySpec>(policy?.object)?.paramKind
  const who = `user ${JSON.stringify(actAs.name)}`
  return {
    field: 'spec.paramRef',
    action: readOf(deps, key.cluster, paramKind, { verb, namespace, name }),
    detail: `${who} does not have "${verb}" permission on the object referenced by paramRef`,
  }
}

interface Read {
  readonly verb: 'get' | 'list'
  readonly namespace: string
  readonly name: string
}

/** For a kind that is not known, the permission for all resources. */
function readOf(
  { backend }: ParamAccessDeps,
  cluster: string,
  paramKind: PolicySpec['paramKind'],
  { verb, namespace, name }: Read,
): Action {
  const { apiVersion, kind = '' } = paramKind ?? {}
  if (apiVersion === undefined) return { verb, cluster, resource: { ...everything, namespace, name } }
  const served = resourceOfKind(backend.apis(cluster), { apiVersion, kind })
  const { group: servedGroup = groupIn(apiVersion), version = versionIn(apiVersion) } = served ?? {}
  const resource = { group: servedGroup, version, resource: served?.names.plural ?? '*', subresource: '' }
  return { verb, cluster, resource: { ...resource, namespace, name } }
}

const everything = { group: '*', version: '*', resource: '*', subresource: '' }
