import { type Client, clientOf } from '../client.ts'
import { discard, type Oriel, startOriel } from '../oriel.ts'
import { configAt } from '../watcher.ts'
import { type Etcd, startEtcd } from './etcd.ts'

/** Servers over one etcd. */
export interface Replicas {
  readonly etcd: Etcd
  readonly servers: readonly Oriel[]
  /** The administrator at each server, in the same order. */
  readonly clients: readonly Client[]
  close(): Promise<void>
}

/** Starts etcd, and all servers at the same time: they agree on keys and first objects. */
export async function startReplicas(count: number): Promise<Replicas> {
  const etcd = await startEtcd()
  const args = ['--store', `etcd://${etcd.endpoint}`, '--log-level', 'info']
  const servers = await Promise.all(Array.from({ length: count }, () => startOriel({ args })))
  const clients = await Promise.all(servers.map(server => clientOf(configAt(server, server.url))))
  return {
    etcd,
    servers,
    clients,
    async close() {
      for (const client of clients) client.close()
      await Promise.all(servers.map(discard))
      await etcd.stop()
    },
  }
}

/** The holder of the controllers' Lease; '' without one. */
export async function leaderOf(server: Oriel): Promise<string> {
  const lease = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/oriel-controllers'
  const client = await clientOf(configAt(server, `${server.url}/clusters/system:admin`, 'system:admin'))
  const answer = (await client(lease)).json<{ readonly spec?: { readonly holderIdentity?: string } }>()
  client.close()
  return answer.spec?.holderIdentity ?? ''
}
