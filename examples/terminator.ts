// Cleans up workspaces of a type before their deletion: deletes a ConfigMap that has a finalizer.
//   KUBECONFIG=.oriel/admin.kubeconfig npx tsx examples/terminator.ts "$URL"
// URL: the one with type `terminating` in `status.virtualWorkspaces` of the WorkspaceType.
import { type CoreV1Api, KubeConfig } from '@kubernetes/client-node'
import { followWorkspaces } from './lifecycle.ts'

const [, , url = ''] = process.argv
const config = new KubeConfig()
config.loadFromDefault()

/** Removes the finalizer and deletes the ConfigMap. Idempotent. */
async function cleanUp(core: CoreV1Api): Promise<void> {
  const target = { namespace: 'default', name: 'locked' }
  const locked = await core.readNamespacedConfigMap(target).catch(ifMissing)
  if (locked === undefined) return
  const body = { ...locked, metadata: { ...locked.metadata, finalizers: [] } }
  await core.replaceNamespacedConfigMap({ ...target, body })
  await core.deleteNamespacedConfigMap(target).catch(ifMissing)
}

function ifMissing(error: { readonly code?: number }): undefined {
  if (error.code !== 404) throw error
}

await followWorkspaces(config, url, 'terminators', cleanUp)
