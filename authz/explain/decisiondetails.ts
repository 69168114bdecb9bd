import type { Action, Authorizer, Decision } from '../../framework/contract/authorizer.ts'
import { isPrivileged, type UserInfo } from '../../framework/request/user.ts'
import { attributesFor } from '../chain/attributes.ts'
import type { AuthorizationSources } from '../chain/memory.ts'
import { diagnose, type Missing } from './diagnosis.ts'
import { type ExplainedStep, type ExplainRequest, stepsOf } from './visibility.ts'

/** Details of a decision, for requesters with permission in its logical cluster. */
export interface DecisionDetails {
  /** The decision of each authorizer, in order. */
  steps(request: ExplainRequest, decision: Decision): Promise<readonly ExplainedStep[]>
  /** Everything that is missing. */
  missing(request: Omit<ExplainRequest, 'requester'>): Promise<readonly Missing[]>
}

/** Details from the RBAC objects of this server. */
export const detailsFromSources = (
  authorizer: Authorizer,
  sources: AuthorizationSources,
): DecisionDetails => ({
  steps: (request, decision) => stepsOf(authorizer, sources, request, decision),
  missing: async ({ user, action }) => missingIn(sources, user, action),
})

/** Everything that is missing, for requesters with permission everywhere. */
export const missingIn = (
  sources: AuthorizationSources,
  user: UserInfo,
  action: Action,
): readonly Missing[] => (isPrivileged(user) ? [] : diagnose(sources, attributesFor(user, action)))
