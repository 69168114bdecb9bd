import {
  type AdmissionAttributes,
  type AdmissionPlugin,
  refusedName,
} from '../../../framework/contract/admission.ts'
import type { Informers } from '../../../framework/contract/informer.ts'
import { forbidden } from '../../../framework/meta/errors.ts'
import { resources } from '../../../kcp/resources.ts'
import { type ControllerClient, updateStatus } from '../../controllers/client.ts'
import { countKey, countOf, isCounting, quantityOf, type ResourceQuota } from './quota.ts'

export interface QuotaDeps {
  readonly client: ControllerClient
  readonly informers: Informers
}

/**
 * Counts new objects against the quotas of their namespace (chapter 20, section 7.3). What is used is written before the
 * object is: of two clients that want the last place one is refused.
 */
export const resourceQuotaAdmission = ({ client, informers }: QuotaDeps): AdmissionPlugin => {
  const quotasIn = informers
    .for(resources.resourceQuotas)
    .index(({ key }) => [`${key.cluster}/${key.namespace}`])
  return {
    name: 'ResourceQuota',
    handles: { operations: ['CREATE'] },
    async validate(_ctx, request) {
      const { operation, subresource, group, resource, key } = request
      if (operation !== 'CREATE' || subresource !== '' || key.namespace === '') return
      const counted = countKey(group, resource)
      const limiting = quotasIn(`${key.cluster}/${key.namespace}`).filter(({ object }) =>
        isLimiting(object as ResourceQuota, counted),
      )
      // A place in one of them is not taken where another refuses.
      for (const { object } of limiting) taken(request, object as ResourceQuota, counted)
      if (request.dryRun) return
      for (const quota of limiting)
        await updateStatus<ResourceQuota>(client, resources.resourceQuotas, quota.key, current =>
          taken(request, current, counted),
        )
    },
  }
}

const isLimiting = (quota: ResourceQuota, counted: string): boolean =>
  isCounting(quota) && quota.status?.hard?.[counted] !== undefined

/** The quota with one more used; throws 403 when there is no room. */
function taken(request: AdmissionAttributes, quota: ResourceQuota, counted: string): ResourceQuota {
  const { hard = {}, used = {} } = quota.status ?? {}
  const { group, resource } = request
  const about = { group, resource, name: refusedName(request) }
  const { name } = quota.metadata
  const [limit, before] = [hard[counted], used[counted]]
  if (limit === undefined) return quota
  if (before === undefined) throw forbidden(about, `status unknown for quota: ${name}, resources: ${counted}`)
  const next = countOf(before) + 1
  if (next > countOf(limit))
    throw forbidden(
      about,
      `exceeded quota: ${name}, requested: ${counted}=1, used: ${counted}=${before}, limited: ${counted}=${limit}`,
    )
  return { ...quota, status: { ...quota.status, used: { ...used, [counted]: quantityOf(next) } } }
}
