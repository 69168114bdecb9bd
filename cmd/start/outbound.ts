import type { Outbound } from '../../framework/contract/upstream.ts'
import { createOutbound } from '../../framework/net/outbound.ts'
import { readAuthority } from '../certificates/authorities.ts'
import type { MountFlags } from '../flags/mounts.ts'

/**
 * Connections to mounted servers, within the limits of the flags. `command` has the flags and is named in messages.
 * Throws `StartError` on a file of authorities that cannot be read, or has none.
 */
export async function openOutbound(flags: MountFlags, command: string): Promise<Outbound> {
  const { mountAllow = [], mountDeny = [], mountForwardIdentity = [], mountCaFile } = flags
  const ca = mountCaFile === undefined ? undefined : await readAuthority('--mount-ca-file', mountCaFile)
  return createOutbound({
    allow: mountAllow,
    deny: mountDeny,
    identity: mountForwardIdentity,
    allowHttp: flags.mountAllowHttp === true,
    flags: {
      command,
      allow: '--mount-allow',
      deny: '--mount-deny',
      allowHttp: '--mount-allow-http',
      identity: '--mount-forward-identity',
    },
    ...(ca === undefined ? {} : { ca }),
  })
}
