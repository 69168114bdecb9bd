import { Debts, type Rate } from '../../../framework/async/debts.ts'
import type { AdmissionAttributes, AdmissionPlugin } from '../../../framework/contract/admission.ts'
import { tooManyRequests } from '../../../framework/meta/errors.ts'
import { accountOf, isPrivileged, scopeOf } from '../../../framework/request/user.ts'
import type { APIBinding } from '../../../kcp/apis.ts'
import type { WatchCache } from '../../cache/contract.ts'
import { relabelled } from '../../claims/index.ts'
import { concerns } from '../refusal.ts'

const bindings = 'apibindings.apis.kcp.io'

/** Objects whose labels change: 5,000 take about 75 ms, during which the changes of all others wait. */
const changedObjects: Rate = { perSecond: 5_000, burst: 50_000 }

/**
 * Limits how often the accepted claims of bindings change: each change labels all objects of the claimed resources in the logical
 * cluster again, and writes of others are visible after it. The logical cluster and the user are charged with the number of objects,
 * and refused with 429 until time has paid for what they changed before.
 */
export function acceptedClaimsAdmission(
  cache: Pick<WatchCache, 'existing'>,
  rate: Rate = changedObjects,
): AdmissionPlugin {
  const debts = new Debts(rate)
  return {
    name: 'apis.kcp.io/AcceptedClaims',
    handles: { resources: [bindings], operations: ['CREATE', 'UPDATE'] },
    validate(ctx, request) {
      if (!concerns(request, bindings, ['CREATE', 'UPDATE']) || isPrivileged(ctx.user)) return
      const objects = objectsOf(cache, request)
      if (objects === 0) return
      const debtors = [scopeOf(request.key.cluster), `user:${accountOf(ctx.user)}`]
      const wait = Math.max(...debtors.map(debtor => debts.wait(debtor)))
      if (wait > 0) throw tooOften(objects, Math.ceil(wait / 1_000))
      if (!request.dryRun) for (const debtor of debtors) debts.charge(debtor, objects)
    },
  }
}

/** The objects that get or lose labels. */
function objectsOf(cache: Pick<WatchCache, 'existing'>, { key, old, object }: AdmissionAttributes): number {
  const resources = relabelled(old as APIBinding | undefined, object as APIBinding)
  const countOf = ({ group, resource, segment }: (typeof resources)[number]): number =>
    cache.existing(group, resource, segment)?.count(key.cluster) ?? 0
  return resources.reduce((sum, resource) => sum + countOf(resource), 0)
}

const tooOften = (objects: number, seconds: number) =>
  tooManyRequests(
    `spec.permissionClaims: the accepted claims change too often: this change labels ${objects} objects, try again in ${seconds} s`,
    seconds,
  )
