import { type Attack, attackOn, bearer, type Scene, secrets } from './attack.ts'
import { withCluster } from './credentials.ts'

/** 8 to 12: spellings of paths. */
export function paths(scene: Scene): readonly Attack[] {
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

/** Escapes from the own workspace. */
const escapes = ({ at, home, other }: Scene): readonly string[] =>
  ['/../', '/%2e%2e/', '/./', '//', '/clusters/', '%2fclusters%2f'].flatMap(way => [
    `${at(home)}${way}${other.cluster}${secrets}`,
    `${at(home)}${way}..${at(other)}${secrets}`,
  ])

const shortened = (path: string): string => (path.length > 100 ? `${path.slice(0, 100)}…` : path)

/** 13: all logical clusters. */
export function wildcards(scene: Scene): readonly Attack[] {
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
