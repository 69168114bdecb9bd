import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Client, clientOf, type Reply } from '../support/client.ts'
import { gadgets } from '../support/crds.ts'
import { minimalObject } from '../support/minimal.ts'
import { skip } from '../support/notrun.ts'
import type { Oriel } from '../support/oriel.ts'
import { root } from '../support/source.ts'
import { temporaryDirectory } from '../support/temporary.ts'
import { bind, bindingOf, createWorkspaces, exportApi, publishedUrl } from '../support/tenants.ts'
import { configAt } from '../support/watcher.ts'
import { isCompiled, RecordedProgram, ranEachTime } from './recorded.ts'

/** The files that a page names between `<!-- files -->` and `<!-- end -->`. */
function filesOn(page: string): readonly string[] {
  const text = readFileSync(join(root, 'docs', page), 'utf8')
  const [, listed = ''] = /<!-- files -->([\s\S]*?)<!-- end -->/.exec(text) ?? []
  const files = [...listed.matchAll(/`([\w/.-]+\.ts)`/g)].map(([, file]) => file ?? '')
  return [...new Set(files)].sort()
}

const isController = (file: string): boolean => file.startsWith('shard/controllers/')

/** Files that timers of the server run beside requests, and what runs where the machine is so busy that a request gives way. */
const isBackground = (file: string): boolean =>
  file === 'cmd/files/disk.ts' || file === 'framework/async/turn.ts'

/** The files that ran each time, for the page of a request. */
async function ranForRequest(record: () => Promise<readonly string[]>): Promise<readonly string[]> {
  return (await ranEachTime(record)).filter(file => !isBackground(file))
}

const { group, names } = gadgets.spec as {
  readonly group: string
  readonly names: { readonly plural: string }
}
const apiPath = `/apis/${group}/v1`

describe('the walks of docs', function () {
  this.timeout(180_000)

  before(function () {
    if (!isCompiled) skip(this, 'the program is not compiled, npm run build')
  })

  describe('of a request through a view', () => {
    let program: RecordedProgram
    let client: Client | undefined
    let list: () => Promise<Reply>
    let create: (name: string) => Promise<Reply>

    before(async () => {
      const directory = await temporaryDirectory('walks')
      program = new RecordedProgram('cmd/main.js', ['start', '--data-directory', directory, '--port', '0'])
      const url = await program.printed(/https:\/\/[\w.-]+:\d+/)
      const oriel = { url, directory, kubeconfig: join(directory, 'admin.kubeconfig') } as Oriel
      const [provider, tenant] = await createWorkspaces(oriel, ['provider', 'tenant'])
      assert.ok(provider && tenant)
      const name = await exportApi(provider, gadgets, [])
      await bind(tenant, bindingOf(provider, name, []))
      const published = await publishedUrl(provider, name)
      client = await clientOf(configAt(oriel, ''))
      const everywhere = client.at(`${published}/clusters/*`)
      const inTenant = client.at(`${published}/clusters/${tenant.cluster}`)
      list = () => everywhere(`${apiPath}/${names.plural}`)
      create = name =>
        inTenant(`${apiPath}/namespaces/default/${names.plural}`, {
          method: 'POST',
          body: minimalObject(gadgets, 'v1', name),
          headers: { 'content-type': 'application/json' },
        })
      for (const each of ['a', 'b']) assert.equal((await create(each)).status, 201)
      for (let i = 0; i < 3; i++) assert.equal((await list()).status, 200)
    })
    after(async () => {
      client?.close()
      await program.stop()
    })

    it('are those of a LIST', async () => {
      const files = await ranForRequest(async () => {
        await program.takeAll()
        assert.equal((await list()).status, 200)
        return program.take()
      })
      assert.deepEqual(filesOn('a-request.md'), files)
      assert.ok(files.length <= 40, `${files.length} files`)
    })

    it('are those of a CREATE', async () => {
      let made = 0
      const files = await ranForRequest(async () => {
        await program.takeAll()
        assert.equal((await create(`made-${++made}`)).status, 201)
        return program.takeAll()
      })
      assert.deepEqual(filesOn('a-write.md'), files)
      const count = files.filter(file => !isController(file)).length
      assert.ok(count <= 80, `${count} files`)
    })
  })

  it('are those of a commit until a watch receives it', async () => {
    const program = new RecordedProgram('test/walks/committing.js', [await temporaryDirectory('walks')])
    try {
      await program.ask(undefined, 'ready')
      for (let i = 0; i < 3; i++) await program.ask('commit', 'seen')
      const files = await ranEachTime(async () => {
        await program.takeAll()
        await program.ask('commit', 'seen')
        return program.take()
      })
      assert.deepEqual(filesOn('a-watch.md'), files)
      assert.ok(files.length <= 18, `${files.length} files`)
    } finally {
      await program.stop()
    }
  })
})
