import { typeOf } from '../../../framework/apply/typed/types.ts'
import type { AdmissionPlugin } from '../../../framework/contract/admission.ts'
import type { Backend } from '../../../framework/contract/backend.ts'
import type { Informers } from '../../../framework/contract/informer.ts'
import { serviceUnavailable } from '../../../framework/meta/errors.ts'
import { versionIn } from '../../../framework/meta/object.ts'
import { wholeSchema } from '../../../framework/meta/objectmeta.ts'
import { scaleSchema } from '../../../openapi/definitions/kubernetes/reviews.ts'
import type { NamespaceLookup } from '../kubernetes/namespace-lifecycle.ts'
import { type PolicyDeps, paramFinder } from './invocations.ts'
import { mutatingPolicies, type TypeFinder } from './mutating.ts'
import { paramAccess } from './paramaccess.ts'
import { configurationsOf, configured, type PolicyCluster } from './source.ts'
import { policyExpressions } from './specrules.ts'
import { validatingPolicies } from './validating.ts'

export interface TenantAdmissionDeps {
  readonly informers: Informers
  readonly policyClusterOf: PolicyCluster
  readonly backend: Pick<Backend, 'apis' | 'authorizer'>
  readonly namespaceOf: NamespaceLookup
}

/** Admission policies of workspaces, and of exports for their bound resources, in the order of kcp. */
export function tenantPolicies(tenancy: TenantAdmissionDeps): readonly AdmissionPlugin[] {
  const mutating = policiesOf(tenancy, 'mutatingadmissionpolic')
  const validating = policiesOf(tenancy, 'validatingadmissionpolic')
  const handles = ({ policyClusterOf, bindings }: PolicyDeps) => ({
    when: configured(policyClusterOf, bindings),
  })
  return [
    policyExpressions,
    paramAccess(tenancy),
    { ...mutatingPolicies(mutating, typeFinder(tenancy.backend)), handles: handles(mutating) },
    { ...validatingPolicies(validating), handles: handles(validating) },
  ]
}

const policiesOf = (
  { informers, policyClusterOf, backend, namespaceOf }: TenantAdmissionDeps,
  stem: 'mutatingadmissionpolic' | 'validatingadmissionpolic',
): PolicyDeps => ({
  policyClusterOf,
  policies: configurationsOf(informers, `${stem}ies`),
  bindings: configurationsOf(informers, `${stem}ybindings`),
  findParams: paramFinder(backend),
  namespaceOf,
  authorizer: backend.authorizer,
})

const typeFinder =
  (backend: TenantAdmissionDeps['backend']): TypeFinder =>
  ({ group, resource, subresource, key, object }) => {
    if (subresource === 'scale') return typeOf(wholeSchema({ ...scaleSchema }))
    const version = versionIn(object.apiVersion)
    const served = backend.apis(key.cluster)?.find(group, version, resource)
    if (served !== undefined) return typeOf(wholeSchema(served.openapi))
    throw serviceUnavailable(
      `Resource kind ${group}/${version}, Kind=${object.kind} not found. There can be a delay between when CustomResourceDefinitions are created and when they are available.`,
    )
  }
