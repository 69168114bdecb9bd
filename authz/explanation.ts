import type { Action } from '../framework/authorizer.ts'
import { isPrivileged, type UserInfo } from '../framework/user.ts'
import type { VirtualWorkspace } from '../framework/workspace.ts'
import { askingOf } from './asking.ts'
import { diagnose, type Missing } from './diagnosis.ts'
import {
  type Explaining,
  type ExplainRequest,
  type Explanation,
  limited,
  mayAskIn,
  shown,
  stepsOf,
} from './disclosure.ts'
import { explainView, type ViewExplainRequest } from './viewexplanation.ts'

/** Explains decisions; built once, of what the authorizer is built of. */
export interface Explainer {
  explain(request: ExplainRequest): Promise<Explanation>
  /** The same, of a request to a view. Throws 400 for what is no view's URL, and for views that others decide about. */
  throughView(request: ViewExplainRequest): Promise<Explanation>
  /** Everything that would have to be given, for those who see everything. */
  missing(user: UserInfo, action: Action): readonly Missing[]
}

export interface ExplainerParts extends Explaining {
  /** Those that are served; none until they are built. */
  readonly views: () => readonly VirtualWorkspace[]
}

export function createExplainer(parts: ExplainerParts): Explainer {
  const { authorizer, sources } = parts
  const missing = (user: UserInfo, action: Action): readonly Missing[] =>
    isPrivileged(user) ? [] : diagnose(sources, askingOf(user, action))
  return {
    missing,
    throughView: request => explainView({ ...parts, missing }, request),
    async explain(request) {
      const { user, action, signal } = request
      const decision = await authorizer.authorize(user, action, signal)
      const allowed = decision.effect === 'allow'
      const found = allowed ? [] : missing(user, action)
      if (!(await mayAskIn(authorizer, request, action.cluster)))
        return limited(allowed, found, askingOf(user, action))
      const visible = await Promise.all(found.map(entry => shown(authorizer, request, entry)))
      return { allowed, steps: await stepsOf(parts, request, decision), missing: visible }
    },
  }
}
