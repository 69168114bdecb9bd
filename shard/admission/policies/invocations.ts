import type { Authorizer } from '../../../framework/contract/authorizer.ts'
import type { Item } from '../../../framework/contract/item.ts'
import type { ClusterName, KubeObject } from '../../../framework/meta/object.ts'
import { loopback } from '../../../framework/request/user.ts'
import { matchesResources, type Subject } from './matching.ts'
import { ConfigurationError, type FindParams } from './params.ts'
import { type BindingSpec, compilePolicy, type Policy } from './policy.ts'
import { isExempt, type PolicyCluster, perItem } from './source.ts'

/** Where the policies of one kind are, and what they need to know. */
export interface PolicyDeps {
  readonly clusterOf: PolicyCluster
  readonly policies: (cluster: ClusterName) => readonly Item[]
  readonly bindings: (cluster: ClusterName) => readonly Item[]
  readonly findParams: FindParams
  readonly namespaceOf: Subject['namespaceOf']
  readonly authorizer: Authorizer
}

/** One binding that puts a policy into effect on a write. */
export interface Bound {
  readonly policy: Policy
  readonly name: string
  readonly spec: BindingSpec
  /** In which the policy sees the objects. */
  readonly version: string
}

/** A policy to be run with one set of parameters, or why it cannot be. */
export type Invocation = Bound &
  ({ readonly params: KubeObject | undefined } | { readonly misconfigured: string })

/**
 * Finds the policies that speak of a write, each with its bindings and their parameters, in the order of their names. The
 * server's own writes are not asked about: no tenant may keep it from deleting what is his.
 */
export function invocationFinder(deps: PolicyDeps): (subject: Subject) => Promise<readonly Invocation[]> {
  const compiled = perItem(compilePolicy)
  return async subject => {
    const { ctx, request } = subject
    if (ctx.actAs === loopback || isExempt(request)) return []
    const cluster = deps.clusterOf(request)
    const policies = deps.policies(cluster).map(compiled)
    const bound = boundTo(policies, deps.bindings(cluster), subject)
    const found = await Promise.all(bound.map(each => withParams(deps, each, cluster, subject)))
    return found.flat()
  }
}

function boundTo(policies: readonly Policy[], bindings: readonly Item[], subject: Subject): readonly Bound[] {
  return policies.flatMap(policy => {
    const version = matchesResources(policy.spec.matchConstraints, subject)
    if (version === undefined) return []
    return bindings.flatMap(({ object: { metadata, spec: given } }) => {
      const spec = (given ?? {}) as BindingSpec
      if (spec.policyName !== policy.name) return []
      const isBound = matchesResources(spec.matchResources, subject) !== undefined
      return isBound ? [{ policy, name: metadata.name ?? '', spec, version }] : []
    })
  })
}

async function withParams(
  { findParams }: PolicyDeps,
  bound: Bound,
  cluster: ClusterName,
  { ctx, request }: Subject,
): Promise<readonly Invocation[]> {
  const place = { cluster, namespace: request.key.namespace, ctx }
  try {
    const found = await findParams(bound.policy.spec, bound.spec, place)
    return found.map(params => ({ ...bound, params }))
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error
    return [{ ...bound, misconfigured: `failed to configure binding: ${error.message}` }]
  }
}

/** Whether errors of a policy refuse the request. */
export const isStrict = ({ spec }: Policy): boolean => spec.failurePolicy !== 'Ignore'
