import type { ResetFields } from '../../../framework/contract/apis.ts'

/** How the endpoint of a kind handles writes, as its REST strategy in Kubernetes (rules.md 3.22, 3.23, 6.6). */
export interface RestStrategy {
  /** Whether PUT without a resourceVersion is allowed: the last write wins. */
  readonly unconditionalUpdate: boolean
  /** Whether PUT creates a missing object. */
  readonly createOnUpdate: boolean
  /** Whether DELETE returns the object instead of a Status. */
  readonly deleteReturnsObject: boolean
  /** The fields that an endpoint does not change, by subresource. `/status` changes metadata unless it is listed. */
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

/** Strategies by `<plural>.<group>`. Other built-in kinds have the usual one. */
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

/** The REST strategy of a built-in kind, by `<plural>.<group>` (`<plural>` for the core group). */
export const restStrategyOf = (groupResource: string): RestStrategy => builtin[groupResource] ?? usual
