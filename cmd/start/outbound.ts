import type { Outbound } from '../../framework/contract/upstream.ts'
import { createOutbound } from '../../framework/net/outbound.ts'
import { readFlagFile } from '../files/files.ts'
import type { MountFlags } from '../flags/mounts.ts'

/**
 * Connections to mounted servers, within the limits of the flags. `command` has the flags and is named in messages.
 * Throws `StartError` on an unreadable CA file.
 */
export async function openOutbound(
  { mountAllow = [], mountDeny = [], mountAllowHttp = false, mountCaFile }: MountFlags,
  command: string,
): Promise<Outbound> {
  const ca = mountCaFile === undefined ? undefined : await readFlagFile('--mount-ca-file', mountCaFile)
  return createOutbound({
    allow: mountAllow,
    deny: mountDeny,
    allowHttp: mountAllowHttp,
    flags: {
      command,
      allow: '--mount-allow',
      deny: '--mount-deny',
      allowHttp: '--mount-allow-http',
    },
    ...(ca === undefined ? {} : { ca }),
  })
}
