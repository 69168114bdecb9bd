// Cleans up in every workspace of a type before it goes: here, a ConfigMap that somebody has locked by a finalizer.
//   KUBECONFIG=.oriel/admin.kubeconfig npx tsx examples/terminator.ts "$URL"
// URL: the one with type `terminating` in `status.virtualWorkspaces` of the WorkspaceType. Nothing else is needed.
import { type CoreV1Api, KubeConfig } from '@kubernetes/client-node'
import { followWorkspaces } from './lifecycle.ts'

const [, , url = ''] = process.argv
const config = new KubeConfig()
config.loadFromDefault()

/** Unlocks and deletes; may be called again after it broke off half-way. */
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
