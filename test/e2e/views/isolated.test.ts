import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { KubeObject } from '../../../framework/index.ts'
import { viewContract } from '../../../testing/index.ts'
import { type Client, clientOf } from '../../support/client.ts'
import { compiled, discard, eventually, type Oriel, run, startOriel } from '../../support/oriel.ts'
import { startStandalone } from '../../support/servers/standalone.ts'
import { temporaryDirectory } from '../../support/temporary.ts'
import { apply, createWorkspaces, type Tenant } from '../../support/tenants.ts'
import { viewReview } from '../../support/viewreviews.ts'
import { contractUser } from '../../support/views/contractuser.ts'
import { userAt } from '../../support/watcher.ts'

/** The config maps of a team, and a path that tells about the request and the process, or harms it. */
const module = `
const harms = {
  exit: () => process.exit(7),
  garble: response => response.socket.end('garbage\\r\\n\\r\\n'),
  block: () => { for (;;); },
  async eat() {
    const all = []
    for (;;) {
      all.push(Buffer.alloc(20e6, 1))
      await new Promise(resolve => setTimeout(resolve, 20))
    }
  },
}
export default ({ allow, andLabels, apiSetOf, defineVirtualWorkspace, deny, labelEquals, loopback, viewOf }, { name }) =>
  defineVirtualWorkspace(name, '/services/' + name + '/:team', ({ backend }) => {
    const configMaps = backend.apis('*').find('', 'v1', 'configmaps')
    const storage = viewOf(configMaps.storage, ({ params }) => ({
      narrow: query => ({ ...query, labels: andLabels(query.labels, labelEquals('team', params.team)) }),
    }))
    const apis = apiSetOf([{ ...configMaps, storage }])
    return {
      apis: () => apis,
      authorize: async ({ params, user }) => user.groups.includes('team:' + params.team) || user.name.endsWith(':robot') ? allow('a member') : deny('no member'),
      actAs: () => loopback,
      async http(ctx, request, response) {
        await harms[request.url.slice(1)]?.(response)
        const { user, requestor } = ctx
        const { headers } = request
        response.setHeader('audit-id', 'forged')
        response.end(JSON.stringify({ pid: process.pid, user, requestor, headers }))
      },
    }
  })
`
const views = ['team', 'well', 'sick']
  .map(
    name =>
      `- view: ./team.mjs\n  options: { name: ${name} }\n  isolate: ${name !== 'well'}\n  memory: 256Mi\n`,
  )
  .join('')
  .replace('isolate: false\n  memory: 256Mi', 'isolate: false')

const tokens = 'ada-token,ada,1,"team:ops"\nbob-token,bob,2\nboss-token,böss,3,"system:masters"\n'
const configMap = (name: string, team: string, word: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'default', labels: { team } },
  data: { word },
})

interface Told {
  readonly pid: number
  readonly user: { readonly name: string; readonly groups: readonly string[] }
  readonly requestor?: { readonly name: string }
  readonly headers: Readonly<Record<string, string>>
}

const isRunning = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

type Start = (views: readonly string[], tokens: readonly string[]) => Promise<Oriel>

const flows = (start: Start, blocks: boolean) =>
  function (this: Mocha.Suite): void {
    this.timeout(120_000)
    let oriel: Oriel
    let tenant: Tenant
    let ada: Client
    let boss: Client
    const below = (view: string, path: string): string =>
      `/services/${view}/ops/clusters/${tenant.cluster}${path}`
    const maps = (view: string): string => below(view, '/api/v1/namespaces/default/configmaps')
    const told = async (view: string, sent = {}): Promise<Told> => {
      const { status, text, json } = await ada(below(view, '/told'), sent)
      assert.equal(status, 200, text)
      return json<Told>()
    }
    const readyAgain = (view: string) =>
      eventually(
        () => ada(maps(view)),
        ({ status }) => status === 200,
      )
    const logged = (line: RegExp) =>
      eventually(
        async () => output(oriel),
        text => line.test(text),
      )
    const as = (user: string) => clientOf(userAt(oriel, oriel.viewsUrl, `${user}-token`))

    before(async () => {
      const folder = await temporaryDirectory('isolated')
      const file = (name: string) => join(folder, name)
      await Promise.all([
        writeFile(file('team.mjs'), module),
        writeFile(file('views.yaml'), `views:\n${views}`),
        writeFile(file('tokens.csv'), tokens),
      ])
      oriel = await start(['--views', file('views.yaml')], ['--token-auth-file', file('tokens.csv')])
      ;[tenant] = (await createWorkspaces(oriel, ['one'])) as [Tenant]
      ada = await as('ada')
      boss = await as('boss')
      await apply(tenant.kubectl, configMap('shown', 'ops', 'hello'))
      await apply(tenant.kubectl, configMap('hidden', 'red', 'sesame'))
      for (const view of ['team', 'well', 'sick']) await readyAgain(view)
    })
    after(async () => void (await discard(oriel)))

    it('passes the contract suite', async () => {
      const hiding = {
        shown: 'shown',
        hidden: 'hidden',
        secret: 'sesame',
        selectors: ['labelSelector=team%3Dred'],
      }
      for (const { run: test } of viewContract({
        ...hiding,
        user: () => contractUser(ada),
        path: maps('team'),
      }))
        await test()
    })

    it('answers as in the process of the server', async () => {
      const paths = ['/version', '/api/v1', '/openapi/v3', '/api/v1/nodes', '/apis/none/v1/nones']
      for (const path of [...paths, '/api/v1/configmaps?labelSelector=a%3D%3D%3D', '//'])
        for (const client of [ada, await as('bob'), boss]) {
          const [own, other] = [await client(below('well', path)), await client(below('team', path))]
          const plain = ({ text }: { text: string }) => text.replaceAll('/services/team/', '/services/well/')
          assert.deepEqual([other.status, plain(other)], [own.status, plain(own)], path)
        }
    })

    it('knows the user and the requestor, and nobody can be another one', async () => {
      const forged = Buffer.from('{"name":"boss","groups":["system:masters"]}').toString('base64url')
      const { user, headers } = await told('team', {
        headers: { 'X-Oriel-User': forged, X_Oriel_User: forged, Connection: 'x-oriel-user, authorization' },
      })
      assert.deepEqual([user.name, user.groups], ['ada', ['team:ops', 'system:authenticated']])
      assert.deepEqual(
        Object.keys(headers).filter(name => /oriel|authorization/.test(name)),
        [],
      )
      const acting = { 'Impersonate-User': 'eve', 'Impersonate-Group': 'team:ops' }
      const { json } = await boss(below('team', '/told'), { headers: acting })
      const { user: eve, requestor } = json<Told>()
      assert.deepEqual([eve.name, requestor?.name], ['eve', 'böss'])
      const refused = await ada(below('team', '/told'), { headers: acting })
      assert.equal(refused.status, 403, refused.text)
    })

    it('gets the audit ID of the server, whatever the process answers', async () => {
      const { headers } = await ada(below('team', '/told'), { headers: { 'Audit-ID': 'asked' } })
      assert.equal(headers['audit-id'], 'asked')
    })

    it('writes, and watches what is written', async () => {
      const watch = await ada.watch(`${maps('team')}?watch=true&fieldSelector=metadata.name%3Dwritten`)
      const body = configMap('written', 'ops', 'new')
      const { status, text } = await ada(maps('team'), {
        method: 'POST',
        body,
        headers: { 'content-type': 'application/json' },
      })
      assert.equal(status, 201, text)
      assert.equal((await watch.next())?.object.metadata.name, 'written')
      watch.leave()
    })

    it('ends the watches of a service account that is deleted', async () => {
      await tenant.kubectl(['create', 'serviceaccount', 'robot'])
      const token = (await tenant.kubectl(['create', 'token', 'robot'])).trim()
      const robot = await clientOf(userAt(oriel, oriel.viewsUrl, token))
      const [ends, stays] = [
        await robot.watch(`${maps('team')}?watch=true`),
        await ada.watch(`${maps('team')}?watch=true`),
      ]
      assert.equal((await ends.next())?.type, 'ADDED')
      await tenant.kubectl(['delete', 'serviceaccount', 'robot'])
      while ((await ends.next()) !== undefined);
      assert.equal((await robot(maps('team'))).status, 401)
      assert.equal((await stays.next())?.type, 'ADDED')
      stays.leave()
    })

    it('explains its decisions', async () => {
      const { cluster } = tenant
      const wanted = { verb: 'list', group: '', resource: 'configmaps' }
      const { path, body } = viewReview({
        about: 'bob',
        view: `/services/team/ops/clusters/${cluster}`,
        wanted,
      })
      const prefix = oriel.viewsUrl === oriel.url ? '' : '/services/explain'
      const { status, text } = await boss(`${prefix}/clusters/${cluster}${path}`, {
        method: 'POST',
        body,
        headers: { 'content-type': 'application/json' },
      })
      assert.equal(status, 201, text)
      assert.match(text, /no member/)
    })

    it('ends alone, and starts again', async () => {
      const watch = await ada.watch(`${maps('well')}?watch=true`)
      const before = await told('sick')
      const { status, text } = await ada(below('sick', '/exit'))
      assert.equal(status, 500, text)
      assert.match(
        text,
        /the view \\"sick\\" failed: its process did not answer: (the connection (was|failed)|connection refused)/,
      )
      assert.equal((await boss('/readyz')).status, 200)
      await readyAgain('sick')
      assert.notEqual((await told('sick')).pid, before.pid)
      assert.equal((await watch.next())?.type, 'ADDED')
      watch.leave()
    })

    it('is not said to have ended when its response is malformed', async () => {
      const problem = 'its process did not answer: its response is malformed'
      await readyAgain('sick')
      const { status, text } = await ada(below('sick', '/garble'))
      assert.equal(status, 500, text)
      assert.ok(text.includes(problem), text)
      await logged(new RegExp(`"view":"sick","plugin":"[^"]*team.mjs","msg":"view sick failed: ${problem}"`))
    })

    it('is ended when it has too much memory', async () => {
      const { status, text } = await ada(below('sick', '/eat'))
      assert.equal(status, 500, text)
      await logged(/the process of the view ended: it had \d+ MiB in memory, more than 256 MiB/)
      await readyAgain('sick')
    })

    // Takes 10 seconds.
    if (blocks)
      it('is ended when it is blocked, and nothing else waits for it', async () => {
        const blocked = ada(below('sick', '/block'))
        for (const view of ['well', 'team']) assert.equal((await ada(maps(view))).status, 200)
        assert.equal((await blocked).status, 500)
        await logged(/the process of the view ended: it was blocked for 10 s/)
        await readyAgain('sick')
      })

    it('is shown by oriel views', async () => {
      const { kubeconfig, viewsUrl } = oriel
      const args = ['views', '--kubeconfig', kubeconfig, '--context', 'shard-base', '--server', viewsUrl]
      const { stdout } = await run(process.execPath, [compiled, ...args])
      assert.match(stdout, /^sick .* yes .* \d+ MiB, [23] restarts$/m)
      assert.match(stdout, /^team .* yes .* \d+ MiB$/m)
      assert.match(stdout, /^well .* yes .* -$/m)
    })

    it('ends with the server', async () => {
      const { pid } = await told('team')
      assert.equal(await oriel.stop(), 0, output(oriel))
      await eventually(
        async () => isRunning(pid),
        running => !running,
      )
    })
  }

const output = (oriel: Oriel & { readonly views?: () => string }): string => oriel.views?.() ?? oriel.output()

describe(
  'an isolated view',
  flows((isolated, users) => startOriel({ args: [...isolated, ...users, '--store', 'memory:'] }), true),
)
describe(
  'an isolated view in front of a shard',
  flows((isolated, users) => startStandalone(isolated, users), false),
)
