import { attempt, inTurns, Pace } from '../../../framework/async/awaitable.ts'
import type { AdmissionAttributes } from '../../../framework/contract/admission.ts'
import { resourceOfKind } from '../../../framework/contract/apis.ts'
import type { Authorizer } from '../../../framework/contract/authorizer.ts'
import type { Backend } from '../../../framework/contract/backend.ts'
import type { RequestContext } from '../../../framework/contract/context.ts'
import type { Item } from '../../../framework/contract/item.ts'
import { loopbackContext } from '../../../framework/contract/loopback.ts'
import { tooLarge } from '../../../framework/meta/errors.ts'
import { type ClusterName, type KubeObject, printKind } from '../../../framework/meta/object.ts'
import { unlessNotFound } from '../../../framework/meta/statuschecks.ts'
import { loopback } from '../../../framework/request/user.ts'
import { decodedAtOnce, decodeObjectSteps } from '../../../framework/wire/encodesteps.ts'
import { requirementsOf } from '../../../kcp/selector.ts'
import { Decisions } from './authorizervariables.ts'
import { matchesResources, type Subject, subjectFor } from './matching.ts'
import { type BindingSpec, compilePolicy, type Policy, type PolicySpec } from './policy.ts'
import { type Configurations, isExempt, ofAll, type PolicyCluster, perItem } from './source.ts'

/** The policies of one kind and their dependencies. */
export interface PolicyDeps {
  readonly policyClusterOf: PolicyCluster
  readonly policies: Configurations
  readonly bindings: Configurations
  readonly findParams: FindParams
  readonly namespaceOf: Subject['namespaceOf']
  readonly authorizer: Authorizer
}

/** A binding whose policy matches a request. */
export interface Bound {
  readonly policy: Policy
  readonly name: string
  readonly spec: BindingSpec
  /** The version in which the policy sees the objects. */
  readonly version: string
}

/** A policy with one set of parameters, or its configuration error. */
export type Invocation = Bound & ({ readonly params: Item | undefined } | { readonly misconfigured: string })

/**
 * The parameters of an invocation, decoded for its evaluation only: all objects of a paramKind together may have gigabytes.
 */
export async function decodedParams(params: Item | undefined): Promise<KubeObject | undefined> {
  if (params === undefined || params.bytes.length <= decodedAtOnce) return params?.object
  return inTurns(decodeObjectSteps(params.bytes), new Pace())
}

/** The policies that match a request, sorted by name, with the variables of their expressions. */
export interface Invocations {
  readonly subject: Subject
  readonly invocations: readonly Invocation[]
  /** What `authorizer` in expressions has decided for this request. */
  readonly decisions: Decisions
}

type InvocationFinder = (ctx: RequestContext, request: AdmissionAttributes) => Promise<Invocations>

/**
 * Finds the policies that match a request, with their bindings and parameters. They do not apply to the server itself,
 * so that no policy can block its controllers.
 */
export function invocationFinder(deps: PolicyDeps): InvocationFinder {
  const compiled = perItem(compilePolicy)
  const matching = async (subject: Subject, cluster: ClusterName): Promise<readonly Invocation[]> => {
    const { ctx, request } = subject
    if (ctx.actAs === loopback || isExempt(request)) return []
    const policies = await ofAll(deps.policies.get(cluster) ?? [], compiled)
    const bound = boundTo(policies, deps.bindings.get(cluster) ?? [], subject)
    return allWithParams({ ...deps, findParams: onceEach(deps.findParams) }, bound, cluster, subject)
  }
  return async (ctx, request) => {
    const cluster = deps.policyClusterOf(request)
    const subject = subjectFor(cluster, ctx, request, deps.namespaceOf)
    const decisions = new Decisions(deps.authorizer, subject)
    return { subject, invocations: await matching(subject, cluster), decisions }
  }
}

function boundTo(policies: readonly Policy[], bindings: readonly Item[], subject: Subject): readonly Bound[] {
  const matching = policies.flatMap(policy => {
    const version = matchesResources(policy.spec.matchConstraints, subject)
    return version === undefined ? [] : [{ policy, version }]
  })
  if (matching.length === 0) return []
  const byPolicy = bindingsByPolicy(bindings)
  return matching.flatMap(({ policy, version }) =>
    (byPolicy.get(policy.name) ?? []).flatMap(({ name, spec }) => {
      const isBound = matchesResources(spec.matchResources, subject) !== undefined
      return isBound ? [{ policy, name, spec, version }] : []
    }),
  )
}

type NamedSpec = Pick<Bound, 'name' | 'spec'>

function bindingsByPolicy(bindings: readonly Item[]): ReadonlyMap<string, readonly NamedSpec[]> {
  const found = new Map<string, NamedSpec[]>()
  for (const { object } of bindings) {
    const spec = (object.spec ?? {}) as BindingSpec
    const binding = { name: object.metadata.name ?? '', spec }
    const own = found.get(spec.policyName ?? '')
    if (own === undefined) found.set(spec.policyName ?? '', [binding])
    else own.push(binding)
  }
  return found
}

/** Bytes of the parameters of one binding: all are decoded for each write. */
const mostBytes = 64 * 1024 * 1024
/** Bindings with parameters, for one write: each is evaluated. */
const mostInvocations = 1_000

async function allWithParams(
  deps: PolicyDeps,
  bound: readonly Bound[],
  cluster: ClusterName,
  subject: Subject,
): Promise<readonly Invocation[]> {
  const all: Invocation[] = []
  for (const each of bound) {
    for (const invocation of await withParams(deps, each, cluster, subject)) all.push(invocation)
    checkCount(all)
  }
  return all
}

function checkCount(all: readonly unknown[]): void {
  if (all.length > mostInvocations)
    throw tooLarge(`limit of policy bindings is ${mostInvocations} with their parameters, for one write`)
}

/** Finds equal parameters once. */
function onceEach(findParams: FindParams): FindParams {
  const known = new Map<string, ReturnType<FindParams>>()
  return (spec, binding, place) => {
    const key = JSON.stringify([spec.paramKind, binding.paramRef])
    const found = known.get(key) ?? findParams(spec, binding, place)
    known.set(key, found)
    return found
  }
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

/** Whether errors of the policy reject the request (`failurePolicy`). */
export const isStrict = ({ spec }: Policy): boolean => spec.failurePolicy !== 'Ignore'

/** The logical cluster and namespace in which parameters are looked up. */
interface ParamPlace {
  readonly cluster: ClusterName
  /** That of the request; '' for objects without one. */
  readonly namespace: string
  readonly ctx: RequestContext
}

/** A configuration error with the message of Kubernetes. */
class ConfigurationError extends Error {}

/**
 * The parameters of a binding: one undefined when the policy has none, an empty list when the policy does not
 * apply.
 */
type FindParams = (
  spec: PolicySpec,
  binding: BindingSpec,
  place: ParamPlace,
) => Promise<readonly (Item | undefined)[]>

const nothingFound = 'no params found for policy binding with `Deny` parameterNotFoundAction'

export const paramFinder =
  (backend: Pick<Backend, 'apis'>): FindParams =>
  async ({ paramKind }, { paramRef }, place) => {
    if (paramKind === undefined) return [undefined]
    if (paramRef === undefined) return [undefined]
    const found = await readParams(backend, paramKind, paramRef, place)
    if (found.length > 0) return found
    if (paramRef.parameterNotFoundAction === 'Allow') return []
    throw new ConfigurationError(nothingFound)
  }

async function readParams(
  backend: Pick<Backend, 'apis'>,
  { apiVersion = '', kind = '' }: NonNullable<PolicySpec['paramKind']>,
  paramRef: NonNullable<BindingSpec['paramRef']>,
  { cluster, namespace: requested, ctx }: ParamPlace,
): Promise<readonly Item[]> {
  const served = resourceOfKind(backend.apis(cluster), { apiVersion, kind })
  if (served === undefined)
    throw new ConfigurationError(
      `failed to find resource referenced by paramKind: '${printKind({ apiVersion, kind })}'`,
    )
  const namespace = served.namespaced ? (paramRef.namespace ?? requested) : ''
  if (served.namespaced && namespace === '')
    throw new ConfigurationError(
      'cannot use namespaced paramRef in policy binding that matches cluster-scoped resources',
    )
  const resource = { group: served.group, version: served.version, resource: served.names.plural }
  const context = loopbackContext({ verb: 'get', resource, cluster, signal: ctx.signal, log: ctx.record.log })
  if (paramRef.name !== undefined) {
    const key = { cluster, namespace, name: paramRef.name }
    const item = await attempt(() => served.storage.get(context, key), unlessNotFound)
    return item === undefined ? [] : [item]
  }
  const labels = requirementsOf(paramRef.selector ?? {})
  const items: Item[] = []
  let bytes = 0
  for await (const batch of served.storage.list(context, { cluster, namespace, labels })) {
    for (const item of batch) {
      items.push(item)
      bytes += item.bytes.length
    }
    checkCount(items)
    if (bytes > mostBytes)
      throw tooLarge('limit of the parameters of a policy binding is 64 MiB, for one write')
  }
  return items
}
