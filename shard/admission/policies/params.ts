import { attempt } from '../../../framework/async/awaitable.ts'
import type { Backend } from '../../../framework/contract/backend.ts'
import type { RequestContext } from '../../../framework/contract/context.ts'
import { loopbackContext } from '../../../framework/contract/loopback.ts'
import { StatusError } from '../../../framework/meta/errors.ts'
import type { ClusterName, KubeObject } from '../../../framework/meta/object.ts'
import { requirementsOf } from '../../../kcp/selector.ts'
import type { BindingSpec, PolicySpec } from './policy.ts'

/** Where parameters are looked for. */
export interface ParamPlace {
  readonly cluster: ClusterName
  /** That of the request; '' for objects without one. */
  readonly namespace: string
  readonly ctx: RequestContext
}

/** A policy that cannot be put into effect, in the words of Kubernetes. */
export class ConfigurationError extends Error {}

/** Finds the parameters of a binding; one undefined where the policy has none, and nothing where it is not to be run. */
export type FindParams = (
  spec: PolicySpec,
  binding: BindingSpec,
  place: ParamPlace,
) => Promise<readonly (KubeObject | undefined)[]>

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
): Promise<readonly KubeObject[]> {
  const [group, version] = apiVersion.includes('/') ? apiVersion.split('/', 2) : ['', apiVersion]
  const served = backend
    .apis(cluster)
    ?.resources.find(r => r.group === group && r.version === version && r.names.kind === kind)
  if (served === undefined)
    throw new ConfigurationError(
      `failed to find resource referenced by paramKind: '${apiVersion}, Kind=${kind}'`,
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
    const item = await attempt(() => served.storage.get(context, key), ifMissing)
    return item === undefined ? [] : [item.object]
  }
  const labels = requirementsOf(paramRef.selector ?? {})
  const objects: KubeObject[] = []
  for await (const batch of served.storage.list(context, { cluster, namespace, labels }))
    for (const item of batch) objects.push(item.object)
  return objects
}

function ifMissing(error: unknown): undefined {
  if (error instanceof StatusError && error.reason === 'NotFound') return undefined
  throw error
}
