import { defineVirtualWorkspace, type Host } from '../../framework/index.ts'
import { definitionOf } from '../../openapi/index.ts'
import { mountApis } from './apis.ts'
import { mayUse } from './authorizer.ts'
import { watchMounts } from './mounts.ts'
import { urlPublisher } from './status.ts'
import { mountExport, mountGroup } from './types.ts'

/** Other Kubernetes clusters, by kubeconfig, that workspaces can mount. See README.md in this folder. */
export const mounts = defineVirtualWorkspace('mounts', '/services/mounts', host => {
  const { outbound } = host
  const identity = identityOf(host)
  const definition = kindOf(host)
  if (outbound === undefined || identity === undefined || definition === undefined)
    return { apis: () => undefined }
  const resource = { group: mountGroup, version: 'v1alpha1', resource: 'kubeclusters', identity }
  const mounts = watchMounts({ host, outbound, resource })
  const apis = mountApis({ host, outbound, resource, definition, mounts })
  return {
    apis: () => apis,
    authorize: ctx => mayUse(host, ctx),
    publisher: urlPublisher(resource),
    async run(ready, signal) {
      ready()
      await mounts.run(signal)
    },
  }
})

const exportsRef = { group: 'apis.kcp.io', version: 'v1alpha2', resource: 'apiexports' }
const schemasRef = { group: 'apis.kcp.io', version: 'v1alpha1', resource: 'apiresourceschemas' }

interface Export {
  readonly spec?: { readonly resources?: readonly { readonly schema: string }[] }
  readonly status?: { readonly identityHash?: string }
}

const exportOf = ({ informers }: Host): Export | undefined =>
  informers.for(exportsRef).get(mountExport.cluster, '', mountExport.name)?.object as Export | undefined

const identityOf = (host: Host) => exportOf(host)?.status?.identityHash

function kindOf(host: Host) {
  const name = exportOf(host)?.spec?.resources?.[0]?.schema ?? ''
  const schema = host.informers.for(schemasRef).get(mountExport.cluster, '', name)
  return schema && definitionOf(schema.object)
}
