import { type Attack, attackOn, bearer, refused, type Scene, secrets } from './attack.ts'
import { masters } from './headers.ts'

/** Users whose name or group would be that of another one without its spaces, by token. */
export const nearly = { master: 'nearly-master-token', mallory: 'nearly-mallory-token' }
export const nearlyUsers = `${nearly.master},eve,4," system:masters"\n${nearly.mallory},"mallory ",5\n`

/** 6 and 25: tokens, and how they are sent. */
export function credentials(scene: Scene): readonly Attack[] {
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
    tokens('a group with a space before system:masters', { headers: bearer(nearly.master) }),
    tokens('a name with a space at its end', { headers: bearer(nearly.mallory) }, { path: mine }),
    tokens('a huge token', { headers: bearer('a'.repeat(60_000)) }, { path: mine, codes: [401, 431] }),
  ]
}

/** A token with another claim, under the old signature. */
export function withCluster(token: string, clusterName: unknown): string {
  const [head, body = '', signature] = token.split('.')
  const claims = JSON.parse(Buffer.from(body, 'base64url').toString())
  const changed = { ...claims, 'kubernetes.io': { ...claims['kubernetes.io'], clusterName } }
  return `${head}.${Buffer.from(JSON.stringify(changed)).toString('base64url')}.${signature}`
}

/** 26: certificates, refused by TLS or by the authenticator. */
export const certificates = (scene: Scene): readonly Attack[] =>
  Object.entries(scene.badCertificates).map(([what, client]) =>
    attackOn(scene, 26)(
      what,
      { client, headers: masters },
      { path: scene.at(scene.home) + secrets, codes: refused },
    ),
  )
