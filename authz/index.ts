export {
  type AuthorizerName,
  type AuthorizerOptions,
  authorizerNames,
  createAuthorizer,
  defaultOpenPaths,
} from './authorizer.ts'
export { delegate, firstOpinion, type Gate, type Verdict } from './chain.ts'
export type { ClusterStates } from './content.ts'
export type { Missing } from './diagnosis.ts'
export type { ExplainedMissing, ExplainedStep, Explanation } from './disclosure.ts'
export { effectiveUsers, prefixUser } from './effectiveusers.ts'
export { escalationPrevention } from './escalation.ts'
export { createExplainer, type Explainer } from './explanation.ts'
export { externalLogicalClusterAdmin } from './groups.ts'
export { type Insight, insightInto, missingIn } from './insight.ts'
export { type BoundExport, type BoundExports, bindingUser, referenceOf } from './maximalpolicy.ts'
export { insightByAsking } from './narrowing.ts'
export { bindingIn, rbacGroup, rulesIn, subjectsIn } from './objects.ts'
export { type PolicyRule, ruleAllows } from './policyrule.ts'
export { systemAdmin } from './rbac.ts'
export type { Binding, RbacSource } from './rbacsource.ts'
export {
  accessReviewStorages,
  explainAnnotation,
  explanationAnnotation,
  type ReviewResource,
  reviewStorages,
  viewAnnotation,
} from './reviews.ts'
export { rulesOf, rulesOfRole, uncovered } from './ruleslist.ts'
export type { AuthorizationSources } from './sources.ts'
export { createStamps, type Stamps } from './stamps.ts'
export { keysOf, type Subject, subjectKey } from './subjects.ts'
export { type WebhookOptions, webhookAuthorizer, webhookDefaults } from './webhook.ts'
