import type { TokenIssuer } from '../../framework/authn/index.ts'
import type { IndexFn, Informer, Informers } from '../../framework/contract/informer.ts'
import type { Item, ItemEvent } from '../../framework/contract/item.ts'
import type { Logger } from '../../framework/contract/log.ts'
import type { KubeObject, ObjectKey } from '../../framework/meta/object.ts'
import { resources } from '../../kcp/resources.ts'
import { type ControllerClient, ifFound, updateObject } from '../controllers/client.ts'
import { type Controller, createController } from '../controllers/controller.ts'

export interface SecretTokenDeps {
  readonly client: ControllerClient
  readonly informers: Informers
  readonly log: Logger
  readonly issuer: TokenIssuer
  /** PEM. */
  readonly rootCA: string
}

const secretType = 'kubernetes.io/service-account-token'
const nameAnnotation = 'kubernetes.io/service-account.name'
const uidAnnotation = 'kubernetes.io/service-account.uid'

/**
 * Writes tokens to secrets of the type `kubernetes.io/service-account-token`, and deletes those whose account is
 * gone (`pkg/controller/serviceaccount/tokens_controller.go`). Such secrets are created by users only.
 */
export function secretTokenController(deps: SecretTokenDeps): Controller {
  const secrets = deps.informers.for(resources.secrets)
  const ofAccount = secrets.index(accountsOf)
  return createController(
    {
      name: 'service-account-secret-tokens',
      reconcile: key => reconcile(deps, secrets, parse(key)),
      sources: [
        { informer: secrets, keys: ({ item }) => (accountsOf(item).length > 0 ? [print(item.key)] : []) },
        {
          informer: deps.informers.for(resources.serviceAccounts),
          keys: (event: ItemEvent) => ofAccount(print(event.item.key)).map(secret => print(secret.key)),
        },
      ],
    },
    deps.log,
  )
}

const print = ({ cluster, namespace, name }: ObjectKey): string => `${cluster}|${namespace}|${name}`

function parse(key: string): ObjectKey {
  const [cluster = '', namespace = '', name = ''] = key.split('|')
  return { cluster, namespace, name }
}

/** The account that a secret is for, as a key. */
const accountsOf: IndexFn = ({ key, object }) =>
  object.type === secretType
    ? [print({ ...key, name: object.metadata.annotations?.[nameAnnotation] ?? '' })]
    : []

async function reconcile(deps: SecretTokenDeps, secrets: Informer, key: ObjectKey): Promise<undefined> {
  const secret = secrets.get(key.cluster, key.namespace, key.name)
  if (secret === undefined || secret.object.metadata.deletionTimestamp !== undefined) return
  const account = accountFor(deps.informers, secret)
  if (account === undefined) {
    await ifFound(deps.client.delete(resources.secrets, key, { uid: secret.meta.uid }))
    return
  }
  if (isComplete(secret.object, account, deps.rootCA)) return
  const { name, uid } = account.meta
  const { cluster, namespace } = key
  const token =
    dataOf(secret.object).token ??
    encode(await deps.issuer.legacy({ cluster, namespace, name, uid }, key.name))
  await updateObject(deps.client, resources.secrets, key, current =>
    filled(current, uid, { token, ca: deps.rootCA }),
  )
}

/** A secret for a former account of the same name gets no token. */
function accountFor(informers: Informers, { key, object }: Item): Item | undefined {
  const { [nameAnnotation]: name = '', [uidAnnotation]: uid } = object.metadata.annotations ?? {}
  const account = informers.for(resources.serviceAccounts).get(key.cluster, key.namespace, name)
  return uid === undefined || uid === account?.meta.uid ? account : undefined
}

type Data = Readonly<Record<string, string>>

const dataOf = ({ data }: KubeObject): Data => (data ?? {}) as Data
const encode = (text: string): string => Buffer.from(text).toString('base64')

function isComplete(secret: KubeObject, { meta }: Item, rootCA: string): boolean {
  const { token, namespace, 'ca.crt': ca } = dataOf(secret)
  const uid = secret.metadata.annotations?.[uidAnnotation]
  return (
    token !== undefined && namespace === encode(meta.namespace) && ca === encode(rootCA) && uid === meta.uid
  )
}

function filled(
  secret: KubeObject,
  uid: string,
  { token, ca }: { readonly token: string; readonly ca: string },
): KubeObject {
  const { metadata } = secret
  const annotations = { ...metadata.annotations, [uidAnnotation]: uid }
  const data = { 'ca.crt': encode(ca), namespace: encode(metadata.namespace ?? ''), token }
  return { ...secret, metadata: { ...metadata, annotations }, data: { ...dataOf(secret), ...data } }
}
