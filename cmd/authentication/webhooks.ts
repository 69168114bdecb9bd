import { type WebhookOptions, webhookAuthorizer } from '../../authz/index.ts'
import { type AuditEvent, type AuditSink, batchDefaults, batchSink } from '../../framework/audit/index.ts'
import {
  type BearerTokenReader,
  type WebhookTokensOptions,
  webhookTokens,
} from '../../framework/authn/index.ts'
import type { Authorizer } from '../../framework/contract/authorizer.ts'
import type { Logger } from '../../framework/contract/log.ts'
import { jsonClient } from '../../framework/net/jsonclient.ts'
import { readKubeconfig } from '../files/kubeconfigfile.ts'

/** Sends audit events in batches to the server of a kubeconfig. Throws `StartError` on an invalid file. */
export async function auditWebhook(kubeconfig: string, log: Logger): Promise<AuditSink> {
  const post = jsonClient(await readKubeconfig(kubeconfig))
  const send = async (items: readonly AuditEvent[]): Promise<void> => {
    const list = { kind: 'EventList', apiVersion: 'audit.k8s.io/v1', metadata: {}, items }
    const { status } = await post('', { body: list })
    if (status >= 300) throw new Error(`the audit webhook responded with status ${status}`)
  }
  return batchSink({ ...batchDefaults, send, log })
}

/** Sends SubjectAccessReviews to the server of a kubeconfig. Throws `StartError` on an invalid file. */
export async function authorizationWebhook(
  kubeconfig: string,
  options: Omit<WebhookOptions, 'send'>,
): Promise<Authorizer> {
  const post = jsonClient(await readKubeconfig(kubeconfig))
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
  const post = jsonClient(await readKubeconfig(kubeconfig))
  const send = async (review: object): Promise<unknown> => {
    const { status, body } = await post('', { body: review })
    if (status >= 300) throw new Error(`the token webhook responded with status ${status}`)
    return body
  }
  return webhookTokens({ ...options, send })
}
