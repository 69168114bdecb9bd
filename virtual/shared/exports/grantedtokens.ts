import { type AdmissionPlugin, type Host, type KubeObject, matchesLabels } from '../../../framework/index.ts'
import { isNotFound } from '../../../framework/meta/statuschecks.ts'
import { requirementsOf, resources } from '../../../kcp/index.ts'
import { type ClaimedWrite, isAllowedItself, isWhole, refusedGrant } from './given.ts'

const nameAnnotation = 'kubernetes.io/service-account.name'

/**
 * The server writes a token into a Secret for a service account. Unlike in kcp, a provider gets tokens only of accounts that it may
 * create by a claim: the account may have permissions that no claim gives.
 */
export async function checkToken(write: ClaimedWrite): Promise<void> {
  const { object, old, key } = write.request
  if (!isForToken(object) || (old !== undefined && isSameToken(object, old))) return
  const name = object.metadata.annotations?.[nameAnnotation] ?? ''
  const asked = { verb: 'create', group: '', resource: 'serviceaccounts', subresource: 'token', name }
  if (await isClaimed(write, { ...key, name })) return
  if (await isAllowedItself(write, asked)) return
  throw refusedGrant(
    write,
    `metadata.annotations[${nameAnnotation}]: a token needs the permission to create serviceaccounts/token, or a permission claim on this service account with the verb "create"`,
  )
}

const isForToken = ({ type }: KubeObject): boolean => type === 'kubernetes.io/service-account-token'

const isSameToken = (object: KubeObject, old: KubeObject): boolean =>
  isForToken(old) && partsOf(object) === partsOf(old)

/** What decides whether the server writes another token. */
function partsOf({ metadata, data }: KubeObject): string {
  const { annotations = {} } = metadata
  const uid = annotations['kubernetes.io/service-account.uid']
  const { token } = (data ?? {}) as Readonly<Record<string, unknown>>
  return JSON.stringify([annotations[nameAnnotation], uid, token])
}

async function isClaimed(
  { host, ctx, given }: ClaimedWrite,
  key: ClaimedWrite['request']['key'],
): Promise<boolean> {
  const claim = given.claims.find(({ group, resource }) => !group && resource === 'serviceaccounts')
  const { verbs = [], selector = {} } = claim ?? {}
  if (!verbs.includes('create') && !verbs.includes('*')) return false
  if (claim !== undefined && isWhole(claim.selector)) return true
  try {
    const { meta } = await host.backend.storage(resources.serviceAccounts).get(ctx, key)
    return matchesLabels(requirementsOf(selector), meta.labels)
  } catch (error) {
    if (isNotFound(error)) return false
    throw error
  }
}

/** For writes with no claims: the user needs the permission to make the token that the server writes into a Secret. */
export const tokensAdmission = (host: Host): AdmissionPlugin => ({
  validate: async (ctx, request) => {
    const { object } = request
    if (object === undefined || request.group !== '' || request.resource !== 'secrets') return
    await checkToken({ host, ctx, request: { ...request, object }, given: { claims: [], rules: [] } })
  },
})
