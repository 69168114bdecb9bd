import type { Outbound } from '../../framework/contract/upstream.ts'
import { createOutbound } from '../../framework/net/outbound.ts'
import { readFlagFile } from '../files/files.ts'
import type { MountFlags } from '../flags/mounts.ts'

/** Connections to mounted servers, within the limits of the flags. Throws `StartError` on an unreadable CA file. */
export async function openOutbound({
  mountAllow = [],
  mountDeny = [],
  mountAllowHttp = false,
  mountCaFile,
}: MountFlags): Promise<Outbound> {
  const ca = mountCaFile === undefined ? undefined : await readFlagFile('--mount-ca-file', mountCaFile)
  return createOutbound({
    allow: mountAllow,
    deny: mountDeny,
    allowHttp: mountAllowHttp,
    ...(ca === undefined ? {} : { ca }),
  })
}
