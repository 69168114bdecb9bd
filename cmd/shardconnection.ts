import { connectShard, type ShardConnection } from '../proxy/shard/connection.ts'
import { readConnection } from './connection.ts'
import { follow } from './follow.ts'
import type { ViewSetup } from './viewsetup.ts'

/** A server by the kubeconfig of a flag, with what that becomes. Throws `StartError` for what is missing in it. */
export async function openConnection(
  { flags: { context }, log, signal }: ViewSetup,
  flag: string,
  path: string,
): Promise<ShardConnection> {
  const read = () => readConnection(path, context)
  const current = await read()
  const connection = connectShard(current, log)
  follow({ what: `kubeconfig of ${flag}`, current, read, use: next => connection.use(next), log, signal })
  return connection
}
