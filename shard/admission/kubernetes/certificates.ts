import { isDeepStrictEqual } from 'node:util'
import {
  type AdmissionAttributes,
  type AdmissionPlugin,
  refusedName,
} from '../../../framework/contract/admission.ts'
import type { Authorizer } from '../../../framework/contract/authorizer.ts'
import type { RequestContext } from '../../../framework/contract/context.ts'
import { forbidden } from '../../../framework/meta/errors.ts'
import type { KubeObject } from '../../../framework/meta/object.ts'

const group = 'certificates.k8s.io'

interface SigningRequest extends KubeObject {
  readonly spec?: { readonly signerName?: string }
  readonly status?: { readonly certificate?: string; readonly conditions?: readonly object[] }
}

/** Whether the user may act for a signer, by its name or by its domain. */
async function mayActFor(
  authorizer: Authorizer,
  { actAs, cluster, signal }: RequestContext,
  verb: string,
  signer: string,
): Promise<boolean> {
  const [domain = ''] = signer.split('/')
  for (const name of [signer, `${domain}/*`]) {
    const resource = { group, version: '*', resource: 'signers', subresource: '', namespace: '', name }
    const { effect } = await authorizer.authorize(actAs, { verb, cluster, resource }, signal)
    if (effect === 'allow') return true
  }
  return false
}

/** The verb on `signers` that a write needs; undefined: none. */
function actOf({ subresource, object, old }: AdmissionAttributes): 'approve' | 'sign' | undefined {
  if (subresource === 'approval') return 'approve'
  if (subresource !== 'status') return undefined
  const [next, before] = [object, old].map(request => {
    const { certificate = '', conditions = [] } = (request as SigningRequest | undefined)?.status ?? {}
    return { certificate, conditions }
  })
  return isDeepStrictEqual(next, before) ? undefined : 'sign'
}

/**
 * Requires `approve` or `sign` on `signers` for the approval and the signing of a CertificateSigningRequest
 * (`plugin/pkg/admission/certificates`).
 */
export const signerAdmission = (authorizer: Authorizer): AdmissionPlugin => ({
  name: 'CertificateApproval',
  handles: { operations: ['UPDATE'], resources: [`certificatesigningrequests.${group}`] },
  async validate(ctx, request) {
    const { operation, resource } = request
    if (operation !== 'UPDATE' || request.group !== group || resource !== 'certificatesigningrequests') return
    const act = actOf(request)
    if (act === undefined) return
    const signer = (request.old as SigningRequest | undefined)?.spec?.signerName ?? ''
    if (await mayActFor(authorizer, ctx, act, signer)) return
    const text = `user not permitted to ${act} requests with signerName ${JSON.stringify(signer)}`
    throw forbidden({ group, resource, name: refusedName(request) }, text)
  },
})
