import type { KeyPair } from '../../cmd/certificates/certificates.ts'
import type { Tenant } from '../support/tenants.ts'
import type { WireRequest } from '../support/wire.ts'

/** What an attacker has: a workspace, and another one that he wants to get into. */
export interface Scene {
  readonly home: Tenant
  readonly other: Tenant
  /** Of a user who administrates his own workspace and nothing else. */
  readonly token: string
  /** Of a service account of `home`, and of one of `other` with the same rights there. */
  readonly robot: string
  readonly foreignRobot: string
  /** Where a workspace is: itself, or, for a process that serves views only, what its own export shows of it. */
  at(tenant: Tenant): string
  /** The attacker's certificate, and some that are not good. */
  readonly certificate: KeyPair
  readonly badCertificates: Readonly<Record<string, KeyPair>>
}

/** One line of the list of chapter 30, section 6.3. */
export interface Attack {
  /** Its number there. */
  readonly number: number
  readonly what: string
  readonly path: string
  readonly request: WireRequest
  /** What it may be answered with. */
  readonly codes: readonly number[]
}

export const secrets = '/api/v1/namespaces/default/secrets'

type Headers = NonNullable<WireRequest['headers']>

/** All attacks, each on the secrets of the other workspace unless it says otherwise. */
export const attacksIn = (scene: Scene): readonly Attack[] => [
  ...forgedHeaders(scene),
  ...credentials(scene),
  ...paths(scene),
  ...wildcards(scene),
  ...impersonations(scene),
  ...certificates(scene),
]

const bearer = (token: string): Headers => ({ authorization: `Bearer ${token}` })
const refused = [401, 403]

interface Refused {
  readonly codes?: readonly number[]
  readonly path?: string
}

const attackOn =
  ({ other, at }: Scene, number: number) =>
  (what: string, request: WireRequest, more: Refused = {}): Attack => ({
    number,
    what,
    request,
    path: more.path ?? at(other) + secrets,
    codes: more.codes ?? refused,
  })

const masters: Headers = {
  'X-Remote-User': 'root',
  'X-Remote-Group': 'system:masters',
  'X-Remote-Extra-authentication.kcp.io%2Fscopes': 'cluster:root',
}

/** 1 to 5: headers that others believe. */
function forgedHeaders(scene: Scene): readonly Attack[] {
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

/** What only HTTP/1.1 can say: 4, headers that name others as being for one hop only, and 6, one header twice. */
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

/** 6 and 25: tokens, and how they are sent. */
function credentials(scene: Scene): readonly Attack[] {
  const { token, robot, home, other, at } = scene
  const [head = '', body = ''] = robot.split('.')
  const unsigned = `${Buffer.from('{"alg":"none"}').toString('base64url')}.${body}.`
  const theirs = at(other) + secrets
  const mine = at(home) + secrets
  const sixth = attackOn(scene, 6)
  const tokens = attackOn(scene, 25)
  return [
    sixth('another scheme', { headers: { authorization: `Basic ${token}` } }, { codes: [401] }),
    sixth('a token in the URL', {}, { path: `${theirs}?access_token=${token}` }),
    sixth('a bad token among WebSocket protocols', {
      headers: { 'sec-websocket-protocol': 'base64url.bearer.authorization.k8s.io.eA, v4.channel.k8s.io' },
    }),
    tokens('a token of another workspace', { headers: bearer(robot) }),
    tokens('a token of an equal account elsewhere', { headers: bearer(scene.foreignRobot) }, { path: mine }),
    tokens('an unsigned token', { headers: bearer(unsigned) }, { path: mine, codes: [401] }),
    tokens('half a token', { headers: bearer(`${head}.${body}`) }, { path: mine, codes: [401] }),
    tokens('a token with more to it', { headers: bearer(`${robot}x`) }, { path: mine, codes: [401] }),
    tokens('a huge token', { headers: bearer('a'.repeat(60_000)) }, { path: mine, codes: [401, 431] }),
  ]
}

/** 8 to 12: ways to write where something is. */
function paths(scene: Scene): readonly Attack[] {
  const { home, other, token, robot } = scene
  const codes = [400, 403, 404, 405, 414, 431]
  const written: Readonly<Record<number, readonly string[]>> = {
    8: [
      `/clusters/${home.path}/../${other.path}${secrets}`,
      `/clusters/${home.path}/%2e%2e/${other.path}${secrets}`,
      `/clusters/${home.path}/./${other.path}${secrets}`,
      `//clusters/${other.path}${secrets}`,
      `/clusters//${other.path}${secrets}`,
      `/clusters/${other.path}/${secrets}`,
      `/clusters/${home.path}%2fclusters%2f${other.path}${secrets}`,
      `/clusters/${home.path}/clusters/${other.path}${secrets}`,
      `/Clusters/${other.path}${secrets}`,
      `/%63lusters/${other.path}${secrets}`,
      ...[
        'A',
        `${other.path}:`,
        `:${other.path}`,
        'root::other',
        `${other.path};v=1`,
        `${other.path}%00`,
      ].map(cluster => `/clusters/${cluster}${secrets}`),
      ...[
        `${other.path}%0d%0aX-Remote-User:%20root`,
        'root:system:admin',
        'system:admin',
        'system:masters',
      ].map(cluster => `/clusters/${cluster}${secrets}`),
      ...['a'.repeat(64), `${'a:'.repeat(5000)}a`].map(cluster => `/clusters/${cluster}${secrets}`),
    ],
    9: [
      ...escapes(scene),
      `/services/apiexport/root/x/clusters/${home.path}/clusters/${other.path}${secrets}`,
      `/services/../clusters/${other.path}${secrets}`,
      `/services/x/..%2f..%2fclusters/${other.path}${secrets}`,
    ],
    12: [
      `/clusters/${home.path}/api/v1/namespaces/default%2f..%2f..%2f..%2f${other.path}/secrets`,
      `/clusters/${home.path}/api/v1/nodes/x/proxy/../../../${other.path}${secrets}`,
    ],
  }
  const tricks = Object.entries(written).flatMap(([number, all]) =>
    all.map(path =>
      attackOn(scene, Number(number))(shortened(path), { headers: bearer(token) }, { path, codes }),
    ),
  )
  const claims = ['../..', 'root/../x', '*', 'system:admin', '', { a: 1 }, other.cluster].map(clusterName =>
    attackOn(scene, 11)(
      `a token that says it is of ${JSON.stringify(clusterName)}`,
      { headers: bearer(withCluster(robot, clusterName)) },
      { path: secrets, codes: [401, 403, 404] },
    ),
  )
  const host = { headers: { ...bearer(token), host: 'root.example.com:443' } }
  return [...tricks, ...claims, attackOn(scene, 10)('another host', host, { codes: [400, 403, 421] })]
}

/** Out of one's own place. */
const escapes = ({ at, home, other }: Scene): readonly string[] =>
  ['/../', '/%2e%2e/', '/./', '//', '/clusters/', '%2fclusters%2f'].flatMap(way => [
    `${at(home)}${way}${other.cluster}${secrets}`,
    `${at(home)}${way}..${at(other)}${secrets}`,
  ])

const shortened = (path: string): string => (path.length > 100 ? `${path.slice(0, 100)}…` : path)

/** A token with another claim, under the old signature. */
function withCluster(token: string, clusterName: unknown): string {
  const [head, body = '', signature] = token.split('.')
  const claims = JSON.parse(Buffer.from(body, 'base64url').toString())
  const changed = { ...claims, 'kubernetes.io': { ...claims['kubernetes.io'], clusterName } }
  return `${head}.${Buffer.from(JSON.stringify(changed)).toString('base64url')}.${signature}`
}

/** 13: all logical clusters at once. */
function wildcards(scene: Scene): readonly Attack[] {
  const at = (path: string) => ({ path, codes: [401, 403, 404, 405] })
  const headers = bearer(scene.token)
  const json = { ...headers, 'content-type': 'application/json' }
  const thirteenth = attackOn(scene, 13)
  const partial = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1'
  return [
    ...['*', '%2a'].map(all =>
      thirteenth(`a list of ${all}`, { headers }, at(`/clusters/${all}/api/v1/secrets`)),
    ),
    thirteenth('a watch', { headers }, at('/clusters/*/api/v1/secrets?watch=true')),
    thirteenth(
      'metadata only',
      { headers: { ...headers, accept: partial } },
      at('/clusters/*/api/v1/secrets'),
    ),
    thirteenth('an identity', { headers }, at('/clusters/*/apis/example.com/v1/widgets:0123456789abcdef')),
    thirteenth('discovery', { headers }, at('/clusters/*/apis')),
    thirteenth('OpenAPI', { headers }, at('/clusters/*/openapi/v3')),
    thirteenth('nobody', {}, at('/clusters/*/api/v1/secrets')),
    ...['POST', 'PATCH', 'PUT'].map(method =>
      thirteenth(method, { method, headers: json, body: '{}' }, at(`/clusters/*${secrets}`)),
    ),
    thirteenth('DELETE', { method: 'DELETE', headers }, at(`/clusters/*${secrets}/a`)),
    ...['apiexport/root/tenancy.kcp.io', 'initializingworkspaces/root:universal', 'workspaces', 'mounts'].map(
      view => thirteenth(`through ${view}`, { headers }, at(`/services/${view}/clusters/*/api/v1/secrets`)),
    ),
  ]
}

/** 17 and 18: as somebody else. */
function impersonations(scene: Scene): readonly Attack[] {
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

/** 26: certificates. TLS, or whoever looks at the certificate, refuses. */
const certificates = (scene: Scene): readonly Attack[] =>
  Object.entries(scene.badCertificates).map(([what, client]) =>
    attackOn(scene, 26)(
      what,
      { client, headers: masters },
      { path: scene.at(scene.home) + secrets, codes: refused },
    ),
  )
