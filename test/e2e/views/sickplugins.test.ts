import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { KubeObject } from '../../../framework/index.ts'
import { type Client, clientOf } from '../../support/client.ts'
import { compiled, discard, eventually, type Oriel, startOriel } from '../../support/oriel.ts'
import { startStandalone } from '../../support/servers/standalone.ts'
import { temporaryDirectory } from '../../support/temporary.ts'
import { createWorkspaces, type Tenant } from '../../support/tenants.ts'
import { configAt } from '../../support/watcher.ts'

/** Two views in TypeScript. One of them fails outside of requests, on request of the test. */
const module = `
import type { ViewPlugin } from 'oriel/plugin'

interface Failure {
  readonly name: string
}
const failures: Readonly<Record<string, () => void>> = {
  timer: () => setTimeout(() => { throw new Error('thrown in a timer') }, 1),
  rejection: () => void Promise.reject(new Error('rejected')),
  text: () => void Promise.reject('not an error'),
}
const plugin: ViewPlugin = ({ allow, apiSetOf, defineVirtualWorkspace, loopback, StatusError }) =>
  ['sick', 'well'].map(name =>
    defineVirtualWorkspace(name, \`/services/\${name}/:what\`, ({ backend }) => {
      setInterval(() => undefined, 100)
      const configMaps = backend.apis('*')!.find('', 'v1', 'configmaps')!
      const apis = apiSetOf([configMaps])
      return {
        apis: () => apis,
        actAs: () => loopback,
        authorize: async ({ params }) => {
          failures[(params as unknown as Failure & { what: string }).what]?.()
          return allow('everybody')
        },
        ...(name === 'well' && {
          publisher: {
            objects: { group: '', version: 'v1', resource: 'namespaces' },
            dependsOn: [],
            views: ({ metadata }) => (metadata.labels?.publish === 'yes' ? [{ what: 'none' }] : undefined),
            publish: (object, [url]) =>
              object.metadata.annotations?.url === url
                ? object
                : { ...object, metadata: { ...object.metadata, annotations: { ...object.metadata.annotations, url } } },
          },
        }),
        ...(name === 'sick' && { run: () => new Promise<void>(() => undefined) }),
      }
    }),
  )
export default plugin
`

type Start = (views: readonly string[]) => Promise<Oriel>

const flows = (start: Start) =>
  function (this: Mocha.Suite): void {
    this.timeout(180_000)
    let oriel: Oriel & { readonly views?: () => string }
    let tenant: Tenant
    let client: Client
    let hasEnded = false
    const output = (): string => oriel.views?.() ?? oriel.output()
    const maps = (view: string, what: string): string =>
      `/services/${view}/${what}/clusters/${tenant.cluster}/api/v1/namespaces/default/configmaps`
    /** Resolves with the fields of a log line when it is written. */
    const line = (text: string): Promise<Record<string, unknown>> =>
      eventually(
        async () =>
          output()
            .split('\n')
            .find(each => each.includes(text)) ?? '',
        found => found !== '',
      ).then(found => JSON.parse(found))

    before(async () => {
      const file = join(await temporaryDirectory('sick'), 'sick.ts')
      await writeFile(file, module)
      oriel = await start(['--view', file])
      ;[tenant] = (await createWorkspaces(oriel, ['one'])) as [Tenant]
      client = await clientOf(configAt(oriel, oriel.viewsUrl))
    })
    after(async () => void (hasEnded || (await discard(oriel))))

    it('is loaded from TypeScript', async () => {
      const { status, text } = await client(maps('well', 'none'))
      assert.equal(status, 200, text)
    })

    for (const [what, text, at] of [
      ['timer', 'thrown in a timer', /sick\.ts:8:40$/],
      ['rejection', 'rejected', /sick\.ts:9:40$/],
    ] as const)
      it(`does not end the server by an error outside of requests: ${what}`, async () => {
        await client(maps('well', what))
        const { msg, at: where, view, error } = await line(`Error: ${text}`)
        assert.match(String(msg), /^view (sick|well) failed: /)
        assert.match(String(where), at)
        assert.match(String(view), /^(sick|well)$/)
        assert.match(String(error), new RegExp(text))
        assert.equal((await client(maps('well', 'none'))).status, 200)
        assert.equal((await client('/readyz/well')).status, 500)
      })

    it('does not end the server by a rejection without an error', async () => {
      await client(maps('well', 'text'))
      await line('not an error')
      assert.equal((await client(maps('well', 'none'))).status, 200)
    })

    it('fails no other line of /readyz, if it is never ready', async () => {
      const verbose = await eventually(
        () => client('/readyz?verbose'),
        ({ status }) => status === 200,
      )
      assert.match(verbose.text, /^\[-\]sick failed: reason withheld$/m)
      const { status, text } = await client(maps('sick', 'none'))
      assert.equal(status, 503, text)
      assert.match(text, /sick virtual workspace controllers are not started/)
    })

    it('does not keep the URLs of the other views from being published', async () => {
      await tenant.kubectl(['create', 'namespace', 'published'])
      await tenant.kubectl(['label', 'namespace', 'published', 'publish=yes'])
      const { metadata } = await eventually(
        () => tenant.kubectl.json<KubeObject>(['get', 'namespace', 'published']),
        object => object.metadata.annotations?.url !== undefined,
      )
      assert.match(metadata.annotations?.url ?? '', /^https:\/\/localhost:\d+\/services\/well\/none$/)
    })

    it('does not keep the server from ending', async () => {
      hasEnded = true
      assert.equal(await oriel.stop(), 0, output())
    })
  }

describe(
  'a failing plugin',
  flows(views => startOriel({ args: [...views, '--store', 'memory:'] })),
)
describe(
  'a failing plugin in front of a shard',
  flows(views => startStandalone(views)),
)

describe('an error of the server', function () {
  this.timeout(60_000)

  it('ends a server with plugins, too', async () => {
    const directory = await temporaryDirectory('broken')
    const file = join(directory, 'broken.mjs')
    // The stack of an error of the server names its bundle, and no plugin.
    await writeFile(
      file,
      `export default f => f.defineVirtualWorkspace('broken', '/services/broken', () => {
        const error = new Error('broken')
        error.stack = 'Error: broken\\n    at serve (${compiled}:1:1)'
        setTimeout(() => { throw error }, 500)
        return { apis: () => undefined }
      })`,
    )
    const args = [
      'start',
      '--data-directory',
      join(directory, 'data'),
      '--store',
      'memory:',
      '--port',
      '0',
      '--view',
      file,
    ]
    const child = spawn(process.execPath, [compiled, ...args], { stdio: ['ignore', 'ignore', 'pipe'] })
    const printed: string[] = []
    child.stderr.setEncoding('utf8').on('data', chunk => printed.push(chunk))
    const [code] = await once(child, 'exit')
    assert.equal(code, 1)
    assert.match(printed.join(''), /^Error: broken$/m)
  })
})
