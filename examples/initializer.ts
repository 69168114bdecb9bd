// Initializes new workspaces of a type: creates a ConfigMap in each, then removes the initializer.
//   KUBECONFIG=.oriel/admin.kubeconfig npx tsx examples/initializer.ts "$URL"
// URL: the one with type `initializing` in `status.virtualWorkspaces` of the WorkspaceType.
import { type CoreV1Api, KubeConfig } from '@kubernetes/client-node'
import { followWorkspaces } from './lifecycle.ts'

const [, , url = ''] = process.argv
const config = new KubeConfig()
config.loadFromDefault()

/** Idempotent: an existing ConfigMap is not an error. */
async function prepare(core: CoreV1Api): Promise<void> {
  const metadata = { name: 'welcome' }
  const body = { metadata, data: { from: 'the initializer' } }
  await core.createNamespacedConfigMap({ namespace: 'default', body }).catch(unlessThere)
}

function unlessThere(error: { readonly code?: number }): void {
  if (error.code !== 409) throw error
}

await followWorkspaces(config, url, 'initializers', prepare)
