import type { WireRequest } from '../../../support/wire.ts'
import { type Attack, attackOn, bearer, type Headers, type Scene } from './attack.ts'

export const masters: Headers = {
  'X-Remote-User': 'root',
  'X-Remote-Group': 'system:masters',
  'X-Remote-Extra-authentication.kcp.io%2Fscopes': 'cluster:root',
}

/** 1 to 5: identity headers. */
export function forgedHeaders(scene: Scene): readonly Attack[] {
  const { token, certificate } = scene
  const warrant = '{"user":"root","groups":["system:masters"]}'
  const forged: Readonly<Record<string, readonly [number, Headers]>> = {
    'identity headers': [1, masters],
    'identity headers in upper case': [1, { 'X-REMOTE-USER': 'root', 'X-REMOTE-GROUP': 'system:masters' }],
    'identity headers with underscores': [1, { X_Remote_User: 'root', X_Remote_Group: 'system:masters' }],
    'two identities': [1, { 'X-Remote-User': ['root', 'other'], 'X-Remote-Group': ['system:masters', 'a'] }],
    'an empty identity': [1, { 'X-Remote-User': '', 'X-Remote-Group': 'system:masters' }],
    'a warrant': [2, { 'X-Remote-Extra-authorization.kcp.io%2Fwarrant': warrant }],
    'a warrant, encoded twice': [2, { 'X-Remote-Extra-authorization.kcp.io%252Fwarrant': warrant }],
    'a UID': [3, { 'X-Remote-Uid': '0', ...masters }],
    'what shards tell each other': [
      5,
      {
        'X-Forwarded-User': 'root',
        'X-Forwarded-For': '127.0.0.1',
        'X-Original-URL': '/clusters/root',
        'X-Rewrite-URL': '/clusters/root',
        'X-HTTP-Method-Override': 'DELETE',
        'X-Kubernetes-Sharded-Request': 'true',
        'X-Kcp-Internal-Deep-SubjectAccessReview': 'true',
      },
    ],
  }
  const senders: Readonly<Record<string, WireRequest>> = {
    nobody: {},
    'a user with a token': { headers: bearer(token) },
    'a user with a certificate': { client: certificate },
  }
  const hops = ['-1', 'abc', '99'].map(count =>
    attackOn(scene, 5)(
      `${count} hops`,
      { headers: { ...bearer(token), 'X-Kcp-Virtual-Resource-Hops': count } },
      { codes: [400, 403, 503] },
    ),
  )
  const all = Object.entries(senders).flatMap(([who, request]) =>
    Object.entries(forged).map(([what, [number, headers]]) =>
      attackOn(scene, number)(`${what}, from ${who}`, {
        ...request,
        headers: { ...request.headers, ...headers },
      }),
    ),
  )
  return [...all, ...hops]
}

/** Attacks that only HTTP/1.1 can express: 4, headers that name others as hop-by-hop, and 6, a duplicate header. */
export function oldAttacksIn(scene: Scene): readonly Attack[] {
  const headers = { ...bearer(scene.token), ...masters }
  const twice = { authorization: [`Bearer ${scene.token}`, 'Bearer admin-token'] }
  const connections = [
    'X-Remote-User',
    'X-Remote-User, X-Remote-Group',
    'X-Remote-Extra-Authentication.kcp.io%2fscopes',
    'close, Authorization',
    'keep-alive, X-Remote-Extra-authentication.kcp.io%2Fcluster-name',
  ].map(connection =>
    attackOn(scene, 4)(`Connection: ${connection}`, { headers: { ...headers, connection } }),
  )
  const others = {
    'keep-alive': { 'keep-alive': 'X-Remote-User' },
    te: { te: 'trailers, X-Remote-User', connection: 'TE' },
    'proxy-authorization': { 'proxy-authorization': 'Bearer admin-token' },
    upgrade: { connection: 'Upgrade', upgrade: 'h2c', 'http2-settings': 'AAMAAABkAARAAAAAAAIAAAAA' },
  }
  const hops = Object.entries(others).map(([what, more]) =>
    attackOn(scene, 4)(what, { headers: { ...headers, ...more } }),
  )
  const tabbed = { authorization: `Bearer\t${scene.token}` }
  const sixth = attackOn(scene, 6)
  return [
    ...connections,
    ...hops,
    sixth('two tokens', { headers: twice }),
    sixth('a tab before the token', { headers: tabbed }),
  ]
}
