import { expiryOf } from '../framework/expiry.ts'
import { connectShard, type ShardConnection, textOf } from '../proxy/shard/connection.ts'
import { type Connection, readConnection } from './connection.ts'
import { follow } from './follow.ts'
import { StartError } from './starterror.ts'
import type { ViewSetup } from './viewsetup.ts'

export interface ConnectionSource {
  readonly flag: string
  readonly path: string
  /** What is asked when the file has changed, so that it is known at once whether it can be used. */
  readonly probe?: string
}

/** A server by the kubeconfig of a flag, with what that becomes. Throws `StartError` for what is missing in it. */
export async function openConnection(
  { flags: { context }, log, signal }: ViewSetup,
  { flag, path, probe = '/version' }: ConnectionSource,
): Promise<ShardConnection> {
  const read = async () => checked(await readConnection(path, context), path)
  const current = await read()
  const connection = connectShard(current, log)
  const use = (next: Connection): void => {
    connection.use(next)
    connection.ask({ method: 'GET', target: probe, signal }).then(textOf).catch(toldByTheConnection)
  }
  follow({ what: `kubeconfig of ${flag}`, current, read, use, log, signal })
  return connection
}

const toldByTheConnection = (): void => undefined

function checked(access: Connection, path: string): Connection {
  try {
    if (access.cert !== undefined) expiryOf(access.cert)
    return access
  } catch {
    throw new StartError(`${path} has a client certificate that is none.`)
  }
}
