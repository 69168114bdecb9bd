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

/** Kinds that can only be created, and are not stored. */
export const reviewKinds: readonly KindDefinition[] = [
  selfSubjectReviews,
  tokenReviews,
  localSubjectAccessReviews,
  selfSubjectAccessReviews,
  selfSubjectRulesReviews,
  subjectAccessReviews,
]

/** The built-in kinds of each logical cluster, including reviews. */
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
