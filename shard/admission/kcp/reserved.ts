import type { AdmissionPlugin } from '../../../framework/contract/admission.ts'
import { apisGroup } from '../../../kcp/apigroups.ts'

import { concerns, refused } from './refusal.ts'

const crds = 'customresourcedefinitions.apiextensions.k8s.io'

/** Users' CustomResourceDefinitions stay out of kcp's own group and annotations (chapter 20, section 5.9). */
export const reservedDefinitions: AdmissionPlugin = {
  name: 'kcp.io/ReservedCRDGroups',
  handles: { resources: [crds] },
  validate(_ctx, request) {
    if (!concerns(request, crds, ['CREATE', 'UPDATE'])) return
    const group = (request.object?.spec as { group?: string } | undefined)?.group ?? ''
    if (group === apisGroup || group.endsWith(`.${apisGroup}`))
      throw refused(request, `${group} is a reserved group`)
    const key = Object.keys(request.object?.metadata.annotations ?? {}).find(isReserved)
    if (key !== undefined) throw refused(request, `${key} is a reserved annotation`)
  },
}

function isReserved(key: string): boolean {
  const [domain = '', name] = key.split('/')
  return name !== undefined && (domain === apisGroup || domain.endsWith(`.${apisGroup}`))
}
