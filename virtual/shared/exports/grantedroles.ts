import {
  bindingIn,
  grantsTheSame,
  type PolicyRule,
  printRule,
  rbacGroup,
  rulesIn,
  uncovered,
} from '../../../authz/index.ts'
import { type KubeObject, loopbackContext, type RequestContext } from '../../../framework/index.ts'
import { unlessNotFound } from '../../../framework/meta/statuschecks.ts'
import { localAdminCluster } from '../../../kcp/index.ts'
import { type ClaimedWrite, isAllowedItself, refusedGrant } from './given.ts'

/**
 * A provider writes roles and binds them as Kubernetes lets users: what its claims give, or with a claim on all roles that has the
 * verb `escalate` or `bind`. Unlike in kcp, where the warrant of the view allows everything.
 */
export async function checkRoles(write: ClaimedWrite): Promise<void> {
  const { object, old, resource } = write.request
  if (old !== undefined && grantsTheSame(object, old)) return
  if (resource === 'roles' || resource === 'clusterroles') await checkRole(write, object)
  else await checkBinding(write, object)
}

async function checkRole(write: ClaimedWrite, object: KubeObject): Promise<void> {
  const { resource, key } = write.request
  if (await mayGrant(write, { verb: 'escalate', resource, name: key.name })) return
  if (object.aggregationRule != null) throw missing(write, 'escalate', resource)
  checkRules(write, rulesIn(object))
}

async function checkBinding(write: ClaimedWrite, object: KubeObject): Promise<void> {
  const role = bindingIn(object)?.role
  if (role === undefined) return
  const resource = role.kind === 'Role' ? 'roles' : 'clusterroles'
  if (await mayGrant(write, { verb: 'bind', resource, name: role.name })) return
  const rules = await rulesOf(write, resource, role.name)
  if (rules === undefined) throw missing(write, 'bind', resource)
  checkRules(write, rules)
}

interface Granting {
  readonly verb: 'bind' | 'escalate'
  readonly resource: string
  readonly name: string
}

async function mayGrant(write: ClaimedWrite, { verb, resource, name }: Granting): Promise<boolean> {
  const all = { verbs: [verb], apiGroups: [rbacGroup], resources: [resource] }
  if (uncovered(write.given.rules, [all]).length === 0) return true
  return isAllowedItself(write, { verb, group: rbacGroup, resource, subresource: '', name })
}

/**
 * undefined for a role that is not in the logical cluster: those of the system are elsewhere. A role with the name of one of these has its
 * rules, too.
 */
async function rulesOf(
  { host, ctx, request }: ClaimedWrite,
  resource: string,
  name: string,
): Promise<readonly PolicyRule[] | undefined> {
  const ref = { group: rbacGroup, version: 'v1', resource }
  const storage = host.backend.storage(ref)
  const namespace = resource === 'roles' ? request.key.namespace : ''
  const rulesAt = async (reading: RequestContext, cluster: string) => {
    try {
      return rulesIn((await storage.get(reading, { cluster, namespace, name })).object)
    } catch (error) {
      return unlessNotFound(error)
    }
  }
  const own = await rulesAt(ctx, request.key.cluster)
  if (own === undefined) return undefined
  const { signal, record } = ctx
  const asServer = loopbackContext({
    verb: 'get',
    resource: ref,
    cluster: localAdminCluster,
    signal,
    log: record.log,
  })
  return [...own, ...((await rulesAt(asServer, localAdminCluster)) ?? [])]
}

function checkRules(write: ClaimedWrite, wanted: readonly PolicyRule[]): void {
  const lacking = uncovered(write.given.rules, wanted)
  if (lacking.length === 0) return
  const rules = lacking.map(printRule).sort().join('\n')
  throw refusedGrant(write, `the accepted permission claims do not give what this grants:\n${rules}`)
}

const missing = (write: ClaimedWrite, verb: string, resource: string): Error =>
  refusedGrant(write, `this needs a permission claim on all ${resource} with the verb "${verb}"`)
