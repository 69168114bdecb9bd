/** Resources that a permission claim names without an identity (chapter 20, section 6.5), by `<plural>.<group>`. */
const core = ['configmaps', 'events', 'namespaces', 'resourcequotas', 'secrets', 'serviceaccounts']
const grouped: Readonly<Record<string, readonly string[]>> = {
  'rbac.authorization.k8s.io': ['clusterroles', 'clusterrolebindings', 'roles', 'rolebindings'],
  'certificates.k8s.io': ['certificatesigningrequests'],
  'coordination.k8s.io': ['leases'],
  'admissionregistration.k8s.io': [
    'mutatingwebhookconfigurations',
    'validatingwebhookconfigurations',
    'mutatingadmissionpolicies',
    'mutatingadmissionpolicybindings',
    'validatingadmissionpolicies',
    'validatingadmissionpolicybindings',
  ],
  'events.k8s.io': ['events'],
  'apiextensions.k8s.io': ['customresourcedefinitions'],
  'core.kcp.io': ['logicalclusters'],
  'authorization.k8s.io': ['subjectaccessreviews', 'localsubjectaccessreviews'],
  'authentication.k8s.io': ['tokenreviews'],
}

/** Whether the resource has the same meaning in every workspace, so that a claim needs no identity. */
export const needsNoIdentity = (group: string, resource: string): boolean =>
  group === 'apis.kcp.io' ||
  (group === '' ? core.includes(resource) : (grouped[group]?.includes(resource) ?? false))
