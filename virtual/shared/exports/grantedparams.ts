import { isDeepStrictEqual } from 'node:util'
import type { KubeObject } from '../../../framework/index.ts'
import { groupIn } from '../../../framework/meta/object.ts'
import { unlessNotFound } from '../../../framework/meta/statuschecks.ts'
import { type ClaimedWrite, hasAll, refusedGrant } from './given.ts'

interface ParamKind {
  readonly apiVersion?: string
  readonly kind?: string
}

interface PolicySpec {
  readonly paramKind?: ParamKind
}

interface BindingSpec {
  readonly policyName?: string
  readonly paramRef?: object
}

/**
 * The expressions of a policy can tell who writes what its parameters have: a provider writes them only where its claims let it read the
 * parameters. Kubernetes checks a changed `paramKind` only.
 */
export async function checkPolicy(write: ClaimedWrite): Promise<void> {
  const { object, old } = write.request
  const paramKind = (object.spec as PolicySpec | undefined)?.paramKind
  if (paramKind === undefined || isDeepStrictEqual(object.spec, old?.spec)) return
  await checkReads(write, 'spec.paramKind', paramKind)
}

export async function checkPolicyBinding(write: ClaimedWrite): Promise<void> {
  const { object, old } = write.request
  if (paramsOf(object) === undefined || paramsOf(object) === paramsOf(old)) return
  await checkReads(write, 'spec.paramRef', await paramKindOf(write))
}

/** The policy and the parameters that a binding names, as text; undefined without parameters. */
function paramsOf(binding: KubeObject | undefined): string | undefined {
  const { policyName, paramRef } = (binding?.spec as BindingSpec | undefined) ?? {}
  return paramRef === undefined ? undefined : JSON.stringify([policyName, paramRef])
}

async function paramKindOf({ host, ctx, request }: ClaimedWrite): Promise<ParamKind | undefined> {
  const { group, key, object } = request
  const resource = request.resource.replace(/ybindings$/, 'ies')
  const { policyName: name = '' } = object.spec as BindingSpec
  try {
    const policies = host.backend.storage({ group, version: 'v1', resource })
    const policy = await policies.get(ctx, { cluster: key.cluster, namespace: '', name })
    return (policy.object.spec as PolicySpec).paramKind
  } catch (error) {
    return unlessNotFound(error)
  }
}

async function checkReads(
  write: ClaimedWrite,
  field: string,
  paramKind: ParamKind | undefined,
): Promise<void> {
  if (await hasAll(write, ['get', 'list'], resourceOf(write, paramKind))) return
  throw refusedGrant(write, `${field}: parameters need a permission claim to get and list all of them`)
}

/** For a kind that is not known, everything. */
function resourceOf({ host, request }: ClaimedWrite, paramKind: ParamKind | undefined) {
  if (paramKind === undefined) return { group: '*', resource: '*' }
  const { apiVersion = '', kind } = paramKind
  const group = groupIn(apiVersion)
  const apis = host.backend.apis(request.key.cluster) ?? host.backend.apis('*')
  const served = apis?.resources.find(each => each.group === group && each.names.kind === kind)
  return { group, resource: served?.names.plural ?? '*' }
}
