import { allow, type Decision, noOpinion } from '../../framework/contract/authorizer.ts'
import { evaluate, type RbacVerdict, systemAdmin } from '../rbac/rbac.ts'
import type { RbacSource } from '../rbac/rbacsource.ts'
import type { Step } from './chain.ts'

/** The policy that holds in every cluster (chapter 30, section 2.7). */
export const bootstrapPolicy =
  (source: RbacSource): Step =>
  ({ effective, action }) => {
    const namespace = action.resource?.namespace ?? ''
    const verdict = evaluate(source, { users: effective, cluster: systemAdmin, namespace }, action)
    return decisionOf('05-bootstrap', 'bootstrap policy', verdict)
  }

/** Roles and bindings of the request's cluster. */
export const localPolicy =
  (source: RbacSource): Step =>
  ({ effective, action }) => {
    const { cluster } = action
    if (cluster === '' || cluster === '*') return noOpinion('empty cluster name', '05-local')
    const namespace = action.resource?.namespace ?? ''
    const verdict = evaluate(source, { users: effective, cluster, namespace }, action)
    return decisionOf('05-local', `local cluster "${cluster}" policy`, verdict)
  }

const decisionOf = (authorizer: string, policy: string, { allowed, reason }: RbacVerdict): Decision =>
  (allowed ? allow : noOpinion)(`${policy}: ${reason}`, authorizer)
