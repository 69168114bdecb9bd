import { type WebhookOptions, webhookAuthorizer } from '../../authz/index.ts'
import { type AuditSink, type BatchOptions, batchDefaults, batchSink } from '../../framework/audit/index.ts'
import {
  type BearerTokenReader,
  type WebhookTokensOptions,
  webhookTokens,
} from '../../framework/authn/index.ts'
import type { Authorizer } from '../../framework/contract/authorizer.ts'
import { type JsonClient, jsonClient } from '../../framework/net/jsonclient.ts'
import type { FileWatchEnding } from '../files/follow.ts'
import { type FollowedCredentials, openCredentials, readFlagKubeconfig } from '../files/kubeconfigfile.ts'

const listStart = Buffer.from('{"kind":"EventList","apiVersion":"audit.k8s.io/v1","metadata":{},"items":[')
const listEnd = Buffer.from(']}')
const comma = Buffer.from(',')

/** A client of the server in the kubeconfig of a flag. The server is not followed. Throws `StartError` on an invalid file. */
async function openWebhook(
  flag: string,
  kubeconfig: string,
): Promise<{ readonly post: JsonClient; readonly follow: FollowedCredentials['follow'] }> {
  const read = () => readFlagKubeconfig(flag, kubeconfig)
  const { access, current, follow } = await openCredentials(flag, read)
  return { post: jsonClient(access, current), follow }
}

/** Sends audit events in batches to the server of a kubeconfig. Throws `StartError` on an invalid file. */
export async function auditWebhook(
  kubeconfig: string,
  {
    signal,
    ...options
  }: FileWatchEnding & Pick<BatchOptions, 'meters'> & Partial<Pick<BatchOptions, 'batchBytes'>>,
): Promise<AuditSink> {
  const { post, follow } = await openWebhook('--audit-webhook-config-file', kubeconfig)
  follow({ log: options.log, signal })
  const send: BatchOptions['send'] = async (items, signal) => {
    const parts = items.flatMap(({ pieces }, i) => (i === 0 ? pieces : [comma, ...pieces]))
    const { status } = await post('', { body: Buffer.concat([listStart, ...parts, listEnd]), signal })
    if (status >= 300) throw new Error(`the audit webhook responded with status ${status}`)
  }
  return batchSink({ ...batchDefaults, ...options, send })
}

/** Sends SubjectAccessReviews to the server of a kubeconfig. Throws `StartError` on an invalid file. */
export async function authorizationWebhook(
  kubeconfig: string,
  options: Omit<WebhookOptions, 'send'>,
  ending: FileWatchEnding,
): Promise<Authorizer> {
  const { post, follow } = await openWebhook('--authorization-webhook-config-file', kubeconfig)
  follow(ending)
  const send = async (review: object, signal: AbortSignal): Promise<unknown> => {
    const { status, body } = await post('', { body: review, signal })
    if (status >= 300) throw new Error(`the authorization webhook responded with status ${status}`)
    return body
  }
  return webhookAuthorizer({ ...options, send })
}

/** Reviews tokens by a webhook. */
export interface TokenWebhook extends Pick<FollowedCredentials, 'follow'> {
  readonly reader: BearerTokenReader
}

/** Sends TokenReviews to the server of a kubeconfig. Throws `StartError` on an invalid file. */
export async function tokenWebhook(
  kubeconfig: string,
  options: Omit<WebhookTokensOptions, 'send'>,
): Promise<TokenWebhook> {
  const { post, follow } = await openWebhook('--authentication-token-webhook-config-file', kubeconfig)
  const send = async (review: object): Promise<unknown> => {
    const { status, body } = await post('', { body: review })
    if (status >= 300) throw new Error(`the token webhook responded with status ${status}`)
    return body
  }
  return { reader: webhookTokens({ ...options, send }), follow }
}
