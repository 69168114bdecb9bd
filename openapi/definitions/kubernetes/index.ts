import type { KindDefinition } from '../definition.ts'
import { customResourceDefinitions } from './apiextensions.ts'
import { certificateSigningRequests } from './certificates.ts'
import { configMaps, leases, namespaces, resourceQuotas, secrets, serviceAccounts } from './core.ts'
import { coreEvents, groupEvents } from './events.ts'
import {
  mutatingAdmissionPolicies,
  mutatingAdmissionPolicyBindings,
  validatingAdmissionPolicies,
  validatingAdmissionPolicyBindings,
} from './policies.ts'
import { clusterRoleBindings, clusterRoles, roleBindings, roles } from './rbac.ts'
import {
  localSubjectAccessReviews,
  selfSubjectAccessReviews,
  selfSubjectReviews,
  selfSubjectRulesReviews,
  subjectAccessReviews,
  tokenReviews,
} from './reviews.ts'
import { mutatingWebhookConfigurations, validatingWebhookConfigurations } from './webhooks.ts'

/** Kinds that are only created: the answer comes back, nothing is stored. */
export const reviewKinds: readonly KindDefinition[] = [
  selfSubjectReviews,
  tokenReviews,
  localSubjectAccessReviews,
  selfSubjectAccessReviews,
  selfSubjectRulesReviews,
  subjectAccessReviews,
]

/** Kinds of Kubernetes that every logical cluster has (chapter 20, section 6.5), reviews included. */
export const builtinKinds: readonly KindDefinition[] = [
  configMaps,
  coreEvents,
  namespaces,
  resourceQuotas,
  secrets,
  serviceAccounts,
  mutatingAdmissionPolicies,
  mutatingAdmissionPolicyBindings,
  mutatingWebhookConfigurations,
  validatingAdmissionPolicies,
  validatingAdmissionPolicyBindings,
  validatingWebhookConfigurations,
  customResourceDefinitions,
  certificateSigningRequests,
  leases,
  groupEvents,
  clusterRoleBindings,
  clusterRoles,
  roleBindings,
  roles,
  ...reviewKinds,
]
