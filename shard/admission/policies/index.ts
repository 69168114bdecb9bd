import type { Backend } from '../../../framework/backend.ts'
import type { Informers } from '../../../framework/informer.ts'
import type { AdmissionPlugin } from '../chain.ts'
import type { NamespaceLookup } from '../namespace-lifecycle.ts'
import { policyExpressions } from './expressions.ts'
import { paramFinder } from './params.ts'
import { configurationsOf, policyClusters } from './source.ts'
import { validatingPolicies } from './validating.ts'

export interface TenantAdmissionDeps {
  readonly informers: Informers
  readonly backend: Pick<Backend, 'apis'>
  readonly namespaceOf: NamespaceLookup
}

/** The admission that tenants define for themselves, and for those who bind what they export: in Kubernetes' order. */
export const tenantPolicies = ({
  informers,
  backend,
  namespaceOf,
}: TenantAdmissionDeps): readonly AdmissionPlugin[] => [
  policyExpressions,
  validatingPolicies({
    clusterOf: policyClusters(informers),
    policies: configurationsOf(informers, 'validatingadmissionpolicies'),
    bindings: configurationsOf(informers, 'validatingadmissionpolicybindings'),
    findParams: paramFinder(backend),
    namespaceOf,
  }),
]
