import type { Action, Authorizer, Decision } from '../../framework/contract/authorizer.ts'
import { isPrivileged, type UserInfo } from '../../framework/request/user.ts'
import { attributesFor } from '../chain/attributes.ts'
import type { AuthorizationSources } from '../chain/memory.ts'
import { diagnose, type Missing } from './diagnosis.ts'
import { type ExplainedStep, type ExplainRequest, stepsOf } from './disclosure.ts'

/** What can be told of a decision besides the decision, to who may ask where it was made. */
export interface Insight {
  /** What each authorizer said, in order. */
  steps(request: ExplainRequest, decision: Decision): Promise<readonly ExplainedStep[]>
  /** Everything that would have to be given. */
  missing(request: Omit<ExplainRequest, 'asker'>): Promise<readonly Missing[]>
}

/** Of an authorizer that decides from what lies here. */
export const insightInto = (authorizer: Authorizer, sources: AuthorizationSources): Insight => ({
  steps: (request, decision) => stepsOf(authorizer, sources, request, decision),
  missing: async ({ user, action }) => missingIn(sources, user, action),
})

/** Everything that would have to be given, for those who see everything. */
export const missingIn = (
  sources: AuthorizationSources,
  user: UserInfo,
  action: Action,
): readonly Missing[] => (isPrivileged(user) ? [] : diagnose(sources, attributesFor(user, action)))
