import type { ResourceRef } from '../../framework/contract/backend.ts'
import type { Informers } from '../../framework/contract/informer.ts'
import type { KubeObject } from '../../framework/meta/object.ts'
import type { ViewUrls } from '../../framework/publishing/publisher.ts'
import type { ShardAddresses } from '../../shard/kcp.ts'

interface Shard extends KubeObject {
  readonly spec?: Partial<Omit<ShardAddresses, 'name'>>
}

/** Every shard serves the views of its own logical clusters: consumers find all of them, this one's first. */
export function shardViewUrls(informers: Informers, shards: ResourceRef, own: ShardAddresses): ViewUrls {
  const informer = informers.for(shards)
  return {
    current() {
      const others = informer.list('root').flatMap(({ key, object }) => {
        const { virtualWorkspaceURL, baseURL } = (object as Shard).spec ?? {}
        return key.name === own.name ? [] : (virtualWorkspaceURL ?? baseURL ?? [])
      })
      return [own.virtualWorkspaceURL, ...others]
    },
    onChange: handler => informer.onEvent(handler),
  }
}
