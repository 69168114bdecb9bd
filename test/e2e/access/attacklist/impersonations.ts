import type { WireRequest } from '../../../support/wire.ts'
import { type Attack, attackOn, bearer, type Headers, refused, type Scene, secrets } from './attack.ts'

/** 17 and 18: impersonation. */
export function impersonations(scene: Scene): readonly Attack[] {
  const { home, other, token, at } = scene
  const mine = { path: at(home) + secrets, codes: [400, 403] }
  const be = (headers: Headers): WireRequest => ({
    headers: { ...bearer(token), 'Impersonate-User': 'x', ...headers },
  })
  const extra = (key: string, value: string): WireRequest => be({ [`Impersonate-Extra-${key}`]: value })
  const warrant = (value: string): WireRequest => extra('authorization.kcp.io%2Fwarrant', value)
  const eighteenth = attackOn(scene, 18)
  return [
    ...[
      'system:masters',
      'system:kcp:admin',
      'system:kcp:logical-cluster-admin',
      'system:kcp:external-logical-cluster-admin',
      'system:kcp:tenancy:workspace-bootstrapper',
      'system:kcp:initializer:root:universal',
      'system:kcp:terminator:root:universal',
      `system:cluster:${other.cluster}`,
    ].map(group => eighteenth(`in the group ${group}`, be({ 'Impersonate-Group': group }), mine)),
    eighteenth(
      'with a warrant for system:masters',
      warrant('{"user":"x","groups":["system:masters"]}'),
      mine,
    ),
    eighteenth('with a warrant that is none', warrant('{"user":'), mine),
    eighteenth('with a warrant without end', warrant('['.repeat(4000)), mine),
    eighteenth('with a long warrant', warrant(`{"user":"${'x'.repeat(8000)}"}`), mine),
    eighteenth('from another cluster', extra('authentication.kcp.io%2Fcluster-name', other.cluster), mine),
    eighteenth('with a UID and no name', { headers: { ...bearer(token), 'Impersonate-Uid': '0' } }, mine),
    eighteenth('by nobody', { headers: { 'Impersonate-User': 'root' } }, { ...mine, codes: refused }),
    attackOn(scene, 17)('with rights at home, elsewhere', be({})),
    attackOn(scene, 17)('with a scope that widens', {
      headers: {
        ...bearer(token),
        'Impersonate-User': 'x',
        'Impersonate-Extra-authentication.kcp.io%2Fscopes': `cluster:${other.cluster}`,
      },
    }),
    attackOn(scene, 17)('by a warrant at home, elsewhere', warrant('{"user":"kcp-admin"}')),
  ]
}
