import type { Authorizer } from '../../framework/contract/authorizer.ts'
import type { VirtualWorkspace } from '../../framework/contract/workspace.ts'
import { attributesFor } from '../chain/attributes.ts'
import { type ExplainRequest, type Explanation, limited, mayAskIn, shown } from './disclosure.ts'
import type { Insight } from './insight.ts'
import { explainView, type ViewExplainRequest } from './viewexplanation.ts'

/** Explains the decisions of an authorizer. */
export interface Explainer {
  explain(request: ExplainRequest): Promise<Explanation>
  /** The same, of a request to a view. Throws 400 for what is no view's URL, and for views that others decide about. */
  throughView(request: ViewExplainRequest): Promise<Explanation>
}

export interface ExplainerParts {
  readonly authorizer: Authorizer
  readonly insight: Insight
  /** Those that are served; none until they are built. */
  readonly views: () => readonly VirtualWorkspace[]
}

export const createExplainer = (parts: ExplainerParts): Explainer => ({
  throughView: request => explainView(parts, request),
  async explain(request) {
    const { authorizer, insight } = parts
    const { user, action, signal } = request
    const decision = await authorizer.authorize(user, action, signal)
    const allowed = decision.effect === 'allow'
    const found = allowed ? [] : await insight.missing(request)
    if (!(await mayAskIn(authorizer, request, action.cluster)))
      return limited(allowed, found, attributesFor(user, action))
    const missing = await Promise.all(found.map(entry => shown(authorizer, request, entry)))
    return { allowed, steps: await insight.steps(request, decision), missing }
  },
})
