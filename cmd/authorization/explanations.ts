import { accessReviewStorages, createExplainer, insightByAsking } from '../../authz/index.ts'
import { apiSetOf } from '../../framework/contract/apis.ts'
import type { VirtualWorkspace, WorkspaceFactory } from '../../framework/contract/workspace.ts'
import { pathPattern } from '../../framework/request/path.ts'
import { reviewResourcesOf } from '../../openapi/index.ts'

/**
 * Where a views process explains what its views decide: `/services/explain/clusters/<cluster>` takes access reviews from
 * whoever may create them in that logical cluster, which does the same where shard and views are one process.
 */
export const explanations =
  (views: () => readonly VirtualWorkspace[]): WorkspaceFactory =>
  ({ backend: { authorizer } }) => {
    const insight = insightByAsking(authorizer)
    const explainer = createExplainer({ authorizer, insight, views })
    const apis = apiSetOf(reviewResourcesOf(accessReviewStorages(authorizer, explainer)))
    return { name: 'explain', path: pathPattern('/services/explain'), apis: () => apis }
  }
