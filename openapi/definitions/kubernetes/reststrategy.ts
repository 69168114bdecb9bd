import type { ResetFields } from '../../../framework/contract/apis.ts'

/** How the endpoint of a kind behaves on writes, which no schema says (rules.md 3.22, 3.23, 6.6). */
export interface RestStrategy {
  /** PUT without a resourceVersion: last write wins. */
  readonly unconditionalUpdate: boolean
  /** PUT of a missing object creates it. */
  readonly createOnUpdate: boolean
  /** DELETE answers with the object instead of a Status. */
  readonly deleteReturnsObject: boolean
  /** What parts of the object an endpoint leaves as they are; `/status` writes metadata, too, unless it is named. */
  readonly resetFields?: ResetFields
}

const usual: RestStrategy = { unconditionalUpdate: true, createOnUpdate: false, deleteReturnsObject: false }
const creating: RestStrategy = { ...usual, createOnUpdate: true }
const returning: RestStrategy = { ...usual, deleteReturnsObject: true }
const locked: RestStrategy = { ...usual, unconditionalUpdate: false }

const allButStatus: ResetFields = { status: [['spec']] }
const requests: ResetFields = {
  '': [['spec'], ['status']],
  status: [['spec'], ['status', 'conditions']],
  approval: [['spec'], ['status', 'certificate']],
}

/** Built-in kinds by `<plural>.<group>`; those that are not named here have the usual ones. */
const builtin: Readonly<Record<string, RestStrategy>> = {
  namespaces: { ...returning, resetFields: { ...allButStatus, finalize: [['status']] } },
  serviceaccounts: returning,
  resourcequotas: { ...returning, resetFields: allButStatus },
  events: creating,
  'events.events.k8s.io': creating,
  'leases.coordination.k8s.io': { ...locked, createOnUpdate: true },
  'roles.rbac.authorization.k8s.io': creating,
  'clusterroles.rbac.authorization.k8s.io': creating,
  'rolebindings.rbac.authorization.k8s.io': creating,
  'clusterrolebindings.rbac.authorization.k8s.io': creating,
  'customresourcedefinitions.apiextensions.k8s.io': {
    ...locked,
    deleteReturnsObject: true,
    resetFields: allButStatus,
  },
  'certificatesigningrequests.certificates.k8s.io': { ...usual, resetFields: requests },
  'mutatingwebhookconfigurations.admissionregistration.k8s.io': locked,
  'validatingwebhookconfigurations.admissionregistration.k8s.io': locked,
  'validatingadmissionpolicies.admissionregistration.k8s.io': locked,
  'validatingadmissionpolicybindings.admissionregistration.k8s.io': locked,
  'mutatingadmissionpolicies.admissionregistration.k8s.io': locked,
  'mutatingadmissionpolicybindings.admissionregistration.k8s.io': locked,
}

/** The manners of a built-in kind, by `<plural>.<group>` (`<plural>` for core). */
export const restStrategyOf = (groupResource: string): RestStrategy => builtin[groupResource] ?? usual
