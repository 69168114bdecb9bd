import type { Authorizer } from '../../framework/contract/authorizer.ts'
import type { VirtualWorkspace } from '../../framework/contract/workspace.ts'
import { attributesFor } from '../chain/attributes.ts'
import type { DecisionDetails } from './decisiondetails.ts'
import { explainView, type ViewExplainRequest } from './viewexplanation.ts'
import { type ExplainRequest, type Explanation, limited, mayReviewIn, visibleMissing } from './visibility.ts'

/** Explains the decisions of an authorizer. */
export interface Explainer {
  explain(request: ExplainRequest): Promise<Explanation>
  /**
   * Explains a request to a view. Throws 400 for a URL of no view, and for views whose authorization another
   * workspace decides.
   */
  throughView(request: ViewExplainRequest): Promise<Explanation>
}

export interface ExplainerParts {
  readonly authorizer: Authorizer
  readonly details: DecisionDetails
  /** The served views; empty until they are created. */
  readonly views: () => readonly VirtualWorkspace[]
}

export const createExplainer = (parts: ExplainerParts): Explainer => ({
  throughView: request => explainView(parts, request),
  async explain(request) {
    const { authorizer, details } = parts
    const { user, action, signal } = request
    const decision = await authorizer.authorize(user, action, signal)
    const allowed = decision.effect === 'allow'
    const found = allowed ? [] : await details.missing(request)
    if (!(await mayReviewIn(authorizer, request, action.cluster)))
      return limited(allowed, found, attributesFor(user, action))
    const missing = await Promise.all(found.map(entry => visibleMissing(authorizer, request, entry)))
    return { allowed, steps: await details.steps(request, decision), missing }
  },
})
