import type { AccountRef, TokenIssuer } from '../../framework/authn/index.ts'
import type { Subresource } from '../../framework/contract/apis.ts'
import type { RequestContext } from '../../framework/contract/context.ts'
import type { Informers } from '../../framework/contract/informer.ts'
import { type Item, itemOf } from '../../framework/contract/item.ts'
import { badRequest, conflict, type FieldError, invalid, notFound } from '../../framework/meta/errors.ts'
import { type KubeObject, type ObjectKey, printKind, timestamp } from '../../framework/meta/object.ts'
import { createOnly } from '../../framework/verbs/createonly.ts'
import { resources } from '../../kcp/resources.ts'
import { compileCached } from '../../openapi/compile.ts'
import { tokenRequestSchema } from '../../openapi/definitions/kubernetes/reviews.ts'

const group = 'authentication.k8s.io'
const schema = compileCached(tokenRequestSchema)

/** `serviceaccounts/token`: a token for the account in the URL (rules.md 9.22). */
export const tokenSubresource = (informers: Informers, issuer: TokenIssuer): Subresource => ({
  name: 'token',
  group,
  version: 'v1',
  kind: 'TokenRequest',
  verbs: ['create'],
  schema,
  storage: createOnly({ group: '', resource: 'serviceaccounts' }, async (ctx, key, object) =>
    itemOf(await answer({ informers, issuer }, ctx, key, object as TokenRequest), key.cluster),
  ),
})

interface TokenRequest extends KubeObject {
  readonly spec?: {
    readonly audiences?: readonly string[]
    readonly expirationSeconds?: number
    readonly boundObjectRef?: ObjectReference
  }
}

interface ObjectReference {
  readonly kind?: string
  readonly apiVersion?: string
  readonly name?: string
  readonly uid?: string
}

interface Deps {
  readonly informers: Informers
  readonly issuer: TokenIssuer
}

async function answer(
  { informers, issuer }: Deps,
  ctx: RequestContext,
  key: ObjectKey,
  object: TokenRequest,
): Promise<KubeObject> {
  checkMetadata(object, key)
  const { cluster, namespace, name } = key
  const account = found(
    informers.for(resources.serviceAccounts).get(cluster, namespace, name),
    'serviceaccounts',
    name,
  )
  checkUid(object.metadata.uid, account)
  const audiences = object.spec?.audiences?.length ? object.spec.audiences : issuer.audiences
  const asked = object.spec?.expirationSeconds ?? 3600
  const seconds = Math.min(asked, issuer.longest ?? asked)
  const spec = { ...object.spec, audiences, expirationSeconds: seconds }
  // client-go sends an empty status, which the answer replaces.
  const { status: _, ...sent } = object
  refuse(object, '', [...schema.validate({ ...sent, spec } as TokenRequest), ...durationErrors(asked)])
  if (seconds < asked)
    ctx.record.warn(`requested expiration of ${asked} seconds shortened to ${seconds} seconds`)
  const secret = boundSecret(informers, key, object.spec?.boundObjectRef)
  const ref: AccountRef = { cluster, namespace, name, uid: account.meta.uid }
  const issued = await issuer.issue({ ...ref, audiences, seconds, ...(secret && { secret }) })
  ctx.record.annotate('authentication.kubernetes.io/issued-credential-id', issued.credentialId)
  const metadata = {
    ...object.metadata,
    name,
    namespace,
    uid: ref.uid,
    creationTimestamp: timestamp(),
  }
  const said = { ...spec, boundObjectRef: spec.boundObjectRef ?? null }
  const status = { token: issued.token, expirationTimestamp: timestamp(new Date(issued.expires)) }
  return { ...object, metadata, spec: said, status }
}

function found(item: Item | undefined, resource: string, name: string): Item {
  if (item === undefined) throw notFound({ group: '', resource, name })
  return item
}

function checkMetadata(object: TokenRequest, { namespace, name }: ObjectKey): void {
  const { name: sent, namespace: sentNamespace } = object.metadata
  const wrong = (field: string, value: string): FieldError => ({
    type: 'FieldValueInvalid',
    field: `metadata.${field}`,
    value,
    detail: `must match the service account ${field} if specified`,
  })
  refuse(object, name, sent && sent !== name ? [wrong('name', sent)] : [])
  refuse(
    object,
    name,
    sentNamespace && sentNamespace !== namespace ? [wrong('namespace', sentNamespace)] : [],
  )
}

function checkUid(sent: string | undefined, { meta }: Item): void {
  if (!sent || sent === meta.uid) return
  throw conflict(
    { group, resource: 'TokenRequest', name: meta.name },
    `the UID in the token request (${sent}) does not match the UID of the service account (${meta.uid})`,
  )
}

const shortest = 600
const longest = 2 ** 32

function durationErrors(seconds: number): readonly FieldError[] {
  const detail =
    seconds < shortest
      ? 'may not specify a duration less than 10 minutes'
      : seconds > longest
        ? 'may not specify a duration larger than 2^32 seconds'
        : undefined
  const field = 'spec.expirationSeconds'
  return detail === undefined ? [] : [{ type: 'FieldValueInvalid', field, value: seconds, detail }]
}

function refuse({ kind }: KubeObject, name: string, errors: readonly FieldError[]): void {
  if (errors.length > 0) throw invalid(kind, group, name, errors)
}

const hosted: Readonly<Record<string, string>> = { Pod: 'pods', Node: 'nodes' }

/** The secret to which the token is bound. Pods and nodes, the other kinds of Kubernetes, are not served. */
function boundSecret(
  informers: Informers,
  { cluster, namespace }: ObjectKey,
  ref: ObjectReference | undefined,
): { readonly name: string; readonly uid: string } | undefined {
  if (ref === undefined) return undefined
  const { kind = '', apiVersion = '', name = '', uid = '' } = ref
  const ours = apiVersion === '' || apiVersion === 'v1'
  if (ours && hosted[kind] !== undefined) throw notFound({ group: '', resource: hosted[kind], name })
  if (!ours || kind !== 'Secret')
    throw badRequest(`cannot bind token to object of type ${printKind({ apiVersion, kind })}`)
  const { meta } = found(informers.for(resources.secrets).get(cluster, namespace, name), 'secrets', name)
  if (uid !== '' && uid !== meta.uid) {
    throw conflict(
      { group: '', resource: 'Secret', name },
      `the UID in the bound object reference (${uid}) does not match the UID in record. The object might have been deleted and then recreated`,
    )
  }
  return { name, uid: meta.uid }
}
