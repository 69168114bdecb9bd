import assert from 'node:assert/strict'
import { connect as connectTcp } from 'node:net'
import { join } from 'node:path'
import { connect, type TLSSocket } from 'node:tls'
import { discard, type Oriel, readText, startOriel } from '../../support/oriel.ts'
import { createWorkspaces, type Tenant } from '../../support/tenants.ts'
import { ask, protocols, type WireReply, type WireRequest } from '../../support/wire.ts'

/**
 * Attacks that take more than one request, unlike those of attacklist.test.ts: all are refused and logged, and none is a
 * 500.
 */
describe('attacks on identities', function () {
  this.timeout(120_000)
  let oriel: Oriel
  let home: Tenant
  let other: Tenant
  let ca: string
  let robot: string
  before(async () => {
    oriel = await startOriel({ args: ['--store', 'memory:'] })
    ca = await readText(join(oriel.directory, 'ca.crt'))
    ;[home, other] = (await createWorkspaces(oriel, ['home', 'other'])) as [Tenant, Tenant]
    await home.kubectl(['create', 'serviceaccount', 'robot'])
    await home.kubectl([
      ...[
        'create',
        'clusterrolebinding',
        'robot',
        '--clusterrole=cluster-admin',
        '--serviceaccount=default:robot',
      ],
    ])
    robot = (await home.kubectl(['create', 'token', 'robot'])).trim()
  })
  after(() => discard(oriel))

  const as = (token: string, more: WireRequest = {}): WireRequest => ({
    ca,
    ...more,
    headers: { authorization: `Bearer ${token}`, ...more.headers },
  })
  /** Over both protocols; fails on any 5xx. */
  async function each(
    path: string,
    wanted: WireRequest,
    look: (reply: WireReply, what: string) => void,
  ): Promise<void> {
    for (const protocol of protocols) {
      const reply = await ask(protocol, oriel.url + path, { ca, ...wanted })
      assert.ok(reply.status < 500, `${protocol} ${path}: ${reply.status} ${reply.body}`)
      look(reply, `${protocol} ${path}: ${reply.status} ${reply.body.slice(0, 200)}`)
    }
  }
  const refused = (path: string, wanted: WireRequest, codes: readonly number[] = [403]): Promise<void> =>
    each(path, wanted, ({ status }, what) => assert.ok(codes.includes(status), what))
  const secrets = '/api/v1/namespaces/default/secrets'

  it('do not extend the permissions of an administrator to other workspaces', async () => {
    await each(`/clusters/${home.path}${secrets}`, as(robot), ({ status }, what) =>
      assert.equal(status, 200, what),
    )
    for (const cluster of [
      other.path,
      other.cluster,
      'root',
      '*',
      'system:admin',
      'system:bound-crds',
      'none',
    ])
      await refused(`/clusters/${cluster}${secrets}`, as(robot))
  })

  it('gain no permissions by impersonation, though they may impersonate all users', async () => {
    const review = JSON.stringify({ apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' })
    const be = (headers: Record<string, string>, path = `/clusters/${home.path}${secrets}`) =>
      [path, as(robot, { headers: { 'Impersonate-User': 'x', ...headers } })] as const
    const warrant = (value: object) => ({
      'Impersonate-Extra-authorization.kcp.io%2Fwarrant': JSON.stringify(value),
    })
    await refused(...be(warrant({ user: 'x', groups: ['system:kcp:admin'] })))
    await refused(...be({ 'Impersonate-Extra-%61uthentication.kcp.io%2Fcluster-name': other.cluster }))
    // Permissions of a workspace end there, also for users in warrants.
    for (const headers of [{}, warrant({ user: 'kcp-admin' })])
      await refused(...be(headers, `/clusters/${other.path}${secrets}`))
    const made = { method: 'POST', body: review, headers: { 'content-type': 'application/json' } }
    const scopes = 'Impersonate-Extra-authentication.kcp.io%2Fscopes'
    const wider = {
      'Impersonate-User': 'system:serviceaccount:default:robot',
      [scopes]: `cluster:root,cluster:${home.cluster}`,
    }
    await each(
      `/clusters/${home.path}/apis/authentication.k8s.io/v1/selfsubjectreviews`,
      as(robot, { ...made, headers: { ...made.headers, ...wider } }),
      ({ status, body }, what) => {
        assert.equal(status, 201, what)
        const { extra } = JSON.parse(body).status.userInfo
        assert.deepEqual(extra['authentication.kcp.io/scopes'], [
          `cluster:root,cluster:${home.cluster}`,
          `cluster:${home.cluster}`,
        ])
      },
    )
  })

  it('fail when the object of a bound token is deleted, or replaced by one of the same name', async () => {
    const create = (...args: string[]) => home.kubectl(['create', ...args])
    await create('namespace', 'twice')
    await create('serviceaccount', 'robot', '-n', 'twice')
    const token = (await create('token', 'robot', '-n', 'twice')).trim()
    const path = `/clusters/${home.path}${secrets}`
    await refused(path, as(token))
    await home.kubectl(['delete', 'namespace', 'twice'])
    await create('namespace', 'twice')
    await create('serviceaccount', 'robot', '-n', 'twice')
    await refused(path, as(token), [401])
    const foreign = (await create('token', 'robot', '-n', 'twice', '--audience', 'elsewhere')).trim()
    await refused(path, as(foreign), [401])
  })

  it('get the same response whether a workspace exists or not', async () => {
    const strip = (text: string) => text.replaceAll(/"uid": "[^"]*"/g, '')
    const seen: string[] = []
    for (const cluster of [other.cluster, 'a1b2c3d4e5f6g7h8'])
      await each(`/clusters/${cluster}${secrets}`, as(robot), ({ status, body }) =>
        seen.push(`${status} ${strip(body)}`),
      )
    assert.equal(new Set(seen).size, 1, seen.join('\n'))
  })

  it('are logged, with the reason, and without the token', async () => {
    const forged = `${robot}x`
    await refused(`/clusters/${home.path}${secrets}`, as(forged), [401])
    const lines = oriel.output().split('\n')
    assert.ok(
      lines.some(line => line.includes('authentication failed') && line.includes('invalid signature')),
    )
    assert.ok(!oriel.output().includes(robot.split('.')[2] ?? robot))
  })

  describe('on the transport', () => {
    const tls = (options: object) =>
      new Promise<string>(resolve => {
        const { hostname, port } = new URL(oriel.url)
        const socket: TLSSocket = connect({
          host: hostname,
          port: Number(port),
          servername: 'localhost',
          ca,
          ...options,
        })
        socket.once('secureConnect', () => resolve(socket.getProtocol() ?? ''))
        socket.once('error', error => resolve(`refused: ${error.message}`))
      })

    /** The response to exactly these bytes. */
    const raw = (text: string) =>
      new Promise<string>((resolve, reject) => {
        const { hostname, port } = new URL(oriel.url)
        const socket = connect({
          host: hostname,
          port: Number(port),
          servername: 'localhost',
          ca,
          ALPNProtocols: ['http/1.1'],
        })
        const chunks: Buffer[] = []
        socket.on('data', (chunk: Buffer) => chunks.push(chunk))
        // The server may close the connection as soon as it has refused.
        socket.on('close', () => resolve(Buffer.concat(chunks).toString()))
        socket.on('error', error => (chunks.length > 0 ? undefined : reject(error)))
        socket.end(text)
      })

    it('can use TLS 1.2 and 1.3 only', async () => {
      assert.equal(await tls({ maxVersion: 'TLSv1.2' }), 'TLSv1.2')
      assert.equal(await tls({}), 'TLSv1.3')
      const old = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' }
      assert.match(await tls(old), /^refused/)
    })

    it('do not smuggle a second request', async () => {
      const head = `POST /clusters/${home.path}${secrets} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${robot}\r\n`
      const inner = 'GET /clusters/root/api/v1/secrets HTTP/1.1\r\nHost: x\r\nX-Remote-User: root\r\n\r\n'
      const both = await raw(
        `${head}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${inner}`,
      )
      assert.match(both, /^HTTP\/1.1 400/)
      assert.equal(both.match(/HTTP\/1.1 /g)?.length, 1)
      assert.match(
        await raw(
          `GET /version HTTP/1.1\r\nHost: x\r\nX-A: b\r\n X-Remote-User: root\r\nConnection: close\r\n\r\n`,
        ),
        /^HTTP\/1.1 (200|400)/,
      )
    })

    it('cannot hide an identity in folded headers, in trailers or in an absolute URL', async () => {
      const path = `/clusters/${other.path}${secrets}`
      const identity = 'X-Remote-User: root\r\nX-Remote-Group: system:masters\r\n'
      const chunked = 'Transfer-Encoding: chunked\r\nTrailer: X-Remote-User, X-Remote-Group\r\n'
      const end = 'Host: x\r\nConnection: close\r\n'
      for (const text of [
        `GET ${path} HTTP/1.1\r\n${end}X-Remote-User:\r\n root\r\nX-Remote-Group: system:masters\r\n\r\n`,
        `POST ${path} HTTP/1.1\r\n${end}${chunked}\r\n2\r\n{}\r\n0\r\n${identity}\r\n`,
        `GET https://root.example.com${path} HTTP/1.1\r\n${end}Authorization: Bearer ${robot}\r\n\r\n`,
        `GET ${oriel.url}${path} HTTP/1.1\r\n${end}${identity}\r\n`,
      ])
        assert.match(await raw(text), /^HTTP\/1.1 40[0134] /, text)
    })

    it('cannot use plain HTTP', async () => {
      const { hostname, port } = new URL(oriel.url)
      const answer = await new Promise<string>(resolve => {
        const chunks: Buffer[] = []
        const socket = connectTcp(Number(port), hostname, () =>
          socket.write('GET /version HTTP/1.1\r\nHost: x\r\n\r\n'),
        )
        socket.on('data', (chunk: Buffer) => chunks.push(chunk))
        socket.on('error', () => undefined)
        socket.on('close', () => resolve(Buffer.concat(chunks).toString('latin1')))
      })
      assert.ok(!answer.includes('gitVersion'))
    })
  })
})
