export {
  type AuthorizerName,
  type AuthorizerOptions,
  authorizerNames,
  createAuthorizer,
  defaultOpenPaths,
} from './chain/authorizer.ts'
export { delegate, firstOpinion, type Gate, type GateDecision } from './chain/chain.ts'
export type { ClusterStates } from './chain/gates.ts'
export { type BoundExport, type BoundExports, bindingUser, referenceOf } from './chain/maximalpolicy.ts'
export type { AuthorizationSources } from './chain/memory.ts'
export { createStamps, type Stamps } from './chain/memory.ts'
export { type WebhookOptions, webhookAuthorizer, webhookDefaults } from './chain/webhook.ts'
export { type DecisionDetails, detailsFromSources, missingIn } from './explain/decisiondetails.ts'
export type { Missing } from './explain/diagnosis.ts'
export { createExplainer, type Explainer } from './explain/explanation.ts'
export { detailsFromReviews } from './explain/reviewdetails.ts'
export type { ExplainedMissing, ExplainedStep, Explanation } from './explain/visibility.ts'
export { effectiveUsers, knownUser, prefixUser } from './rbac/effectiveusers.ts'
export { escalationPrevention, grantsTheSame } from './rbac/escalation.ts'
export { type PolicyRule, ruleAllows } from './rbac/policyrule.ts'
export { rbacAllows, systemAdmin } from './rbac/rbac.ts'
export { createRbacIndex, followRbac, type RbacIndex } from './rbac/rbacindex.ts'
export type { Binding, RbacSource } from './rbac/rbacsource.ts'
export {
  bindingIn,
  keysOf,
  type RbacSubject,
  rbacGroup,
  rulesIn,
  subjectKey,
  subjectsIn,
} from './rbac/rbacsource.ts'
export { printRule, rulesOfRole, uncovered } from './rbac/ruleslist.ts'
export { explainAnnotation, explanationAnnotation, viewAnnotation } from './reviews/annotations.ts'
export { accessReviewStorages, type ReviewResource, reviewStorages } from './reviews/reviews.ts'
