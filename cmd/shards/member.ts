import type { FrontProxyFlags } from '../flags/frontproxy.ts'
import type { StartFlags } from '../flags/start.ts'
import { MemberRole } from '../process/memberrole.ts'
import type { Membership } from '../start/membership.ts'

/** What a process of `oriel start --shards` runs. */
export type MemberConfig = Omit<Membership, 'role'> &
  (
    | { readonly kind: 'shard'; readonly flags: StartFlags }
    | { readonly kind: 'front-proxy'; readonly flags: FrontProxyFlags }
  )

/** Runs the server that the process that started this one asks for. Throws `StartError` as that server does. */
export async function runMember(): Promise<void> {
  const role = new MemberRole()
  const { kind, flags, ...rest } = await role.config<MemberConfig>()
  const member = { ...rest, role }
  if (kind === 'shard') {
    const { start } = await import('../start/start.ts')
    return start(flags, member)
  }
  const { startFrontProxy } = await import('../frontproxy/frontproxy.ts')
  return startFrontProxy(flags, member)
}
