import { discard, type Kubectl, type Oriel } from '../oriel.ts'
import { createWorkspaces, type Tenant } from '../tenants.ts'
import { startServer } from './kcp.ts'
import { type Answers, type AnyReview, serveWebhooks, type Webhooks, webhookFlags } from './webhooks.ts'

/** A server that may call webhooks on this machine, and two workspaces, one for a provider of APIs. */
export interface WebhookScene {
  readonly oriel: Oriel
  readonly tenant: Tenant
  readonly provider: Tenant
  /** In the tenant's workspace. */
  readonly kubectl: Kubectl
  readonly webhooks: Webhooks
  close(): Promise<void>
}

export async function openWebhookScene<R extends AnyReview>(
  name: string,
  answers: Answers<R>,
): Promise<WebhookScene> {
  const oriel = await startServer(webhookFlags)
  const webhooks = await serveWebhooks(answers)
  const [tenant, provider] = (await createWorkspaces(oriel, [name, `${name}-provider`])) as [Tenant, Tenant]
  return {
    oriel,
    tenant,
    provider,
    kubectl: tenant.kubectl,
    webhooks,
    async close() {
      webhooks.close()
      await discard(oriel)
    },
  }
}
