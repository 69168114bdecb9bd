import { deny, noOpinion } from '../../framework/contract/authorizer.ts'
import { isNowhere } from './attributes.ts'
import { delegate, type Gate } from './chain.ts'

const refused: Readonly<Record<string, string>> = {
  apibindings: 'apibinding status updates not permitted',
  apiexports: 'apiexport status updates not permitted',
}

/** Statuses that carry identities and bound resources are the controllers' alone (chapter 30, section 2.6, step 03). */
export const systemStatus: Gate = {
  name: '03-systemcrd',
  check: asking => {
    if (isNowhere(asking)) return noOpinion('empty cluster name')
    const { resource } = asking.action
    const guarded = resource?.group === 'apis.kcp.io' && resource.subresource === 'status'
    const reason = guarded ? refused[resource.resource] : undefined
    return reason === undefined ? delegate('no system CRD violation') : deny(reason)
  },
}
