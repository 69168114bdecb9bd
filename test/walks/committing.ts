import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import { defineVirtualWorkspace } from '../../framework/index.ts'
import { creationOf } from '../../shard/manifests/apply.ts'
import { openLmdbStore } from '../../shard/store/lmdb/lmdb.ts'
import type { StoreChange } from '../../shard/store/store.ts'
import { testShard } from '../../shard/testing/shard.ts'
import { serveShard } from '../support/servers/servedshard.ts'

/**
 * A server with one watch on ConfigMaps, whose client it is itself: each message `commit` of the parent process makes
 * exactly one commit to the store, and is answered by `seen` when the event has arrived at the client.
 */
const [directory = ''] = process.argv.slice(2)
const store = await openLmdbStore(directory)
const shard = await testShard({ store })
await shard.addCluster('one')
const view = defineVirtualWorkspace('plain', '', ({ backend }) => ({
  apis: (_params, cluster) => backend.apis(cluster),
}))
const host = { backend: shard.backend, informers: shard.informers } as Parameters<typeof view>[0]
const { server, access } = await serveShard(shard, [view(host)])

const path = '/clusters/one/api/v1/configmaps?watch=1'
const call = request(`${access.server}${path}`, {
  ca: access.ca,
  headers: { authorization: `Bearer ${access.token}` },
})
call.end()
const [response] = (await once(call, 'response')) as [IncomingMessage]

/** Created before the first commit, so that only the commit runs between two messages. */
const changes: StoreChange[] = Array.from({ length: 20 }, (_, i) =>
  creationOf({
    cluster: 'one',
    resource: { group: '', version: 'v1', resource: 'configmaps' },
    object: {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: `made-${i}`, namespace: 'default' },
    },
  }),
)

process.on('message', async message => {
  if (message !== 'commit') return
  const seen = once(response, 'data')
  await store.commit(changes.splice(0, 1))
  await seen
  process.send?.({ seen: true })
})
process.on('disconnect', () => void server.close(0).then(() => process.exit(0)))
process.send?.({ ready: true })
