import { type WebhookOptions, webhookAuthorizer } from '../../authz/index.ts'
import { type AuditSink, type BatchOptions, batchDefaults, batchSink } from '../../framework/audit/index.ts'
import {
  type BearerTokenReader,
  type WebhookTokensOptions,
  webhookTokens,
} from '../../framework/authn/index.ts'
import type { Authorizer } from '../../framework/contract/authorizer.ts'
import { jsonClient } from '../../framework/net/jsonclient.ts'
import { readFlagKubeconfig } from '../files/kubeconfigfile.ts'

const listStart = Buffer.from('{"kind":"EventList","apiVersion":"audit.k8s.io/v1","metadata":{},"items":[')
const listEnd = Buffer.from(']}')
const comma = Buffer.from(',')

/** Sends audit events in batches to the server of a kubeconfig. Throws `StartError` on an invalid file. */
export async function auditWebhook(
  kubeconfig: string,
  options: Pick<BatchOptions, 'log' | 'meters'> & Partial<Pick<BatchOptions, 'batchBytes'>>,
): Promise<AuditSink> {
  const post = jsonClient(await readFlagKubeconfig('--audit-webhook-config-file', kubeconfig))
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
): Promise<Authorizer> {
  const post = jsonClient(await readFlagKubeconfig('--authorization-webhook-config-file', kubeconfig))
  const send = async (review: object, signal: AbortSignal): Promise<unknown> => {
    const { status, body } = await post('', { body: review, signal })
    if (status >= 300) throw new Error(`the authorization webhook responded with status ${status}`)
    return body
  }
  return webhookAuthorizer({ ...options, send })
}

/** Sends TokenReviews to the server of a kubeconfig. Throws `StartError` on an invalid file. */
export async function tokenWebhook(
  kubeconfig: string,
  options: Omit<WebhookTokensOptions, 'send'>,
): Promise<BearerTokenReader> {
  const post = jsonClient(await readFlagKubeconfig('--authentication-token-webhook-config-file', kubeconfig))
  const send = async (review: object): Promise<unknown> => {
    const { status, body } = await post('', { body: review })
    if (status >= 300) throw new Error(`the token webhook responded with status ${status}`)
    return body
  }
  return webhookTokens({ ...options, send })
}
