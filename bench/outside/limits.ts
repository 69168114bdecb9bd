import { mkdtemp, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { issueAuthority, issueServing } from '../../cmd/certificates/certificates.ts'
import type { SameBytesTasks } from '../children/samebytes.ts'
import { startChild } from '../tools/child.ts'
import { type Address, Connection } from '../tools/connection.ts'
import type { Side } from '../tools/sides.ts'
import { everywhere, oneCollection, oneObject } from './measures.ts'

const paths = { object: oneObject, list: oneCollection, all: everywhere }

/** The bodies of the responses of a server, in files of a directory. */
export async function keepBodies(address: Address, scratch: string): Promise<string> {
  const directory = await mkdtemp(join(scratch, 'bodies-'))
  const connection = await Connection.open(address)
  for (const [name, path] of Object.entries(paths))
    await writeFile(join(directory, name), (await connection.read({ path })).body)
  connection.close()
  return directory
}

/** Plain `node:https` that sends these bodies, and flushes the bodies of POSTs to a file before it responds. */
export async function withSameBytes<T>(directory: string, work: (plain: Side) => Promise<T>): Promise<T> {
  const authority = issueAuthority()
  const { certificate, key } = issueServing(authority, ['127.0.0.1', 'localhost'])
  const child = await startChild<SameBytesTasks>('samebytes', { certificate, key, directory })
  try {
    const { port, pid } = await child.ask('address')
    return await work({ address: { port, ca: authority.certificate }, pid })
  } finally {
    await child.stop()
  }
}
