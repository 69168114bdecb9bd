import type { FieldError } from '../../framework/meta/errors.ts'
import { forbidden, invalidValue } from '../../framework/meta/fielderror.ts'
import { labelNameErrors, pathSegmentNameErrors, subdomainNameErrors } from '../../framework/meta/names.ts'
import type { KubeObject } from '../../framework/meta/object.ts'
import { defaultCustomResourceDefinition } from '../../openapi/crd/crd.ts'
import { restStrategyOf } from '../../openapi/definitions/kubernetes/reststrategy.ts'
import { canonicalQuota } from './canonicalquota.ts'
import { signingRequestRules } from './certificates.ts'
import { acceptedNameErrors, definitionErrors, prepareDefinition, startDefinitionDeletion } from './crd.ts'
import { configMapErrors, mergeStringData, secretErrors, withNamedSecrets } from './data.ts'
import { eventErrors } from './events.ts'
import { namespaceRules } from './namespaces.ts'
import {
  clusterRoleBindingErrors,
  clusterRoleErrors,
  completeBinding,
  completeRole,
  prepareRole,
  roleBindingErrors,
  roleErrors,
} from './rbac.ts'
import { quotaErrors, quotaStatusErrors } from './resourcequota.ts'
import type { KindStrategy } from './strategy.ts'

/** The strategy of custom resources (rules.md 3.7, 3.22, 3.29). */
export const customStrategy: KindStrategy = {
  custom: true,
  generation: 'content',
  nameErrors: subdomainNameErrors,
  unconditionalUpdate: false,
  createOnUpdate: false,
  deleteReturnsObject: false,
  collected: true,
}

/** For APIResourceSchemas with `nameValidation: PathSegmentName`. */
export const pathNamedStrategy: KindStrategy = { ...customStrategy, nameErrors: pathSegmentNameErrors }

/** Most built-in kinds: no generation. */
const plain: KindStrategy = { ...customStrategy, custom: false, generation: 'none' }

const policy: KindStrategy = { ...plain, generation: 'spec' }
const webhooks: KindStrategy = { ...policy, generation: 'content' }

const rbacGroup = 'rbac.authorization.k8s.io'

const named: KindStrategy = { ...plain, nameErrors: pathSegmentNameErrors }
const roles: KindStrategy = { ...named, complete: completeRole, prepare: prepareRole }
const roleBindings: KindStrategy = { ...named, complete: completeBinding, prepare: completeBinding }
const events: KindStrategy = { ...plain, collected: false, validate: eventErrors }

const definitions: KindStrategy = {
  ...policy,
  complete: defaultCustomResourceDefinition,
  prepare: prepareDefinition,
  validate: definitionErrors,
  parts: { status: { validate: acceptedNameErrors } },
  onDelete: startDefinitionDeletion,
}

/** Built-in kinds by `<plural>.<group>`; others are `plain` (rules.md 2.31, 3.8). */
const builtinStrategies: Readonly<Record<string, KindStrategy>> = {
  configmaps: { ...plain, validate: configMapErrors },
  secrets: { ...plain, complete: mergeStringData, prepare: mergeStringData, validate: secretErrors },
  resourcequotas: {
    ...plain,
    complete: canonicalQuota,
    validate: quotaErrors,
    parts: { status: { validate: quotaStatusErrors } },
  },
  serviceaccounts: { ...plain, prepare: withNamedSecrets },
  namespaces: { ...plain, ...namespaceRules, nameErrors: labelNameErrors },
  events,
  'events.events.k8s.io': events,
  'leases.coordination.k8s.io': {
    ...plain,
    validate: leaseErrors,
  },
  [`roles.${rbacGroup}`]: { ...roles, validate: roleErrors },
  [`clusterroles.${rbacGroup}`]: { ...roles, validate: clusterRoleErrors },
  [`rolebindings.${rbacGroup}`]: { ...roleBindings, validate: roleBindingErrors },
  [`clusterrolebindings.${rbacGroup}`]: { ...roleBindings, validate: clusterRoleBindingErrors },
  'certificatesigningrequests.certificates.k8s.io': {
    ...plain,
    ...signingRequestRules,
    nameErrors: pathSegmentNameErrors,
  },
  'customresourcedefinitions.apiextensions.k8s.io': definitions,
  'mutatingwebhookconfigurations.admissionregistration.k8s.io': webhooks,
  'validatingwebhookconfigurations.admissionregistration.k8s.io': webhooks,
  'validatingadmissionpolicies.admissionregistration.k8s.io': policy,
  'validatingadmissionpolicybindings.admissionregistration.k8s.io': policy,
  'mutatingadmissionpolicies.admissionregistration.k8s.io': policy,
  'mutatingadmissionpolicybindings.admissionregistration.k8s.io': policy,
}

/** The REST strategy of a built-in kind, by `<plural>.<group>` (`<plural>` for core). */
export const kindStrategyOf = (groupResource: string): KindStrategy => ({
  ...(builtinStrategies[groupResource] ?? plain),
  ...restStrategyOf(groupResource),
})

interface LeaseSpec {
  readonly leaseDurationSeconds?: number
  readonly leaseTransitions?: number
  readonly preferredHolder?: string
  readonly strategy?: string
}

/** `ValidateLeaseSpec` of Kubernetes. */
export function leaseErrors(lease: KubeObject): readonly FieldError[] {
  const { leaseDurationSeconds, leaseTransitions, preferredHolder, strategy } = (lease.spec ??
    {}) as LeaseSpec
  const errors: FieldError[] = []
  if (leaseDurationSeconds !== undefined && leaseDurationSeconds <= 0)
    errors.push(invalidValue('spec.leaseDurationSeconds', leaseDurationSeconds, 'must be greater than 0'))
  if (leaseTransitions !== undefined && leaseTransitions < 0)
    errors.push(invalidValue('spec.leaseTransitions', leaseTransitions, 'must be greater than or equal to 0'))
  if (preferredHolder && !strategy)
    errors.push(forbidden('spec.preferredHolder', 'may only be specified if `strategy` is defined'))
  return errors
}
