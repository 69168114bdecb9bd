import type { FieldError } from '../../framework/meta/errors.ts'
import { forbidden, invalidValue } from '../../framework/meta/fielderror.ts'
import type { KubeObject } from '../../framework/meta/object.ts'

interface LeaseSpec {
  readonly leaseDurationSeconds?: number
  readonly leaseTransitions?: number
  readonly preferredHolder?: string
  readonly strategy?: string
}

/** Leases (upstream's ValidateLeaseSpec). */
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
