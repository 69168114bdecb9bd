import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseAllDocuments } from 'yaml'
import { listedViews } from '../../cmd/views/viewlist.ts'
import { parseMappings } from '../../proxy/mapping.ts'
import { type Client, clientOf } from '../support/client.ts'
import { discard, type Oriel, startOriel } from '../support/oriel.ts'
import { temporaryDirectory } from '../support/temporary.ts'
import { configAt } from '../support/watcher.ts'
import { allBlocks, type PageBlock } from './pages.ts'

interface Shown {
  readonly kind?: string
  readonly apiVersion?: string
  readonly spec?: Readonly<Record<string, unknown>>
  readonly views?: unknown
}

/** The flags of `oriel start` that read a kind. */
const flagOf: Readonly<Record<string, string>> = {
  AuthenticationConfiguration: '--authentication-config',
  Policy: '--audit-policy-file',
  TracingConfiguration: '--tracing-config-file',
}

/** The resources of the kinds that the server admits. */
const resources: Readonly<Record<string, string>> = {
  APIExport: 'apiexports',
  View: 'views',
  Workspace: 'workspaces',
}

/** Kinds that this server does not admit, and why the pages have them. */
const others: Readonly<Record<string, string>> = {
  Aggregate: 'the server returns it',
  LogicalClusterMigration: 'a workspace binds it first',
  RemoteCluster: 'a kind of the reader',
  VirtualWorkspace: 'a kind of kcp-operator',
}

const documentsOf = ({ text, page, line }: PageBlock): readonly Shown[] =>
  parseAllDocuments(text).map(document => {
    assert.deepEqual(document.errors, [], `${page}:${line}`)
    return document.toJS() as Shown
  })

/** A part of a View as the View that has it. */
const whole = (shown: Shown): Shown =>
  shown.kind === undefined && shown.spec !== undefined
    ? {
        ...{ apiVersion: 'views.oriel.dev/v1alpha1', kind: 'View', metadata: { name: 'part' } },
        spec: { source: { apiExport: 'widgets.example.com' }, resources: [readable], ...shown.spec },
      }
    : shown
const readable = { group: 'example.com', resource: 'widgets', verbs: ['get', 'list', 'watch'] }

describe('the configurations of the pages', function () {
  this.timeout(120_000)
  const blocks = allBlocks().filter(({ language }) => language === 'yaml')
  const shown = blocks.flatMap(block =>
    documentsOf(block).map(document => ({ block, document: whole(document) })),
  )
  let folder: string
  let oriel: Oriel
  let client: Client

  before(async () => {
    folder = await temporaryDirectory('documentation')
    const args = ['--audit-log-path', join(folder, 'audit.log'), '--store', 'memory:']
    for (const { block, document } of shown) {
      const flag = flagOf[document.kind ?? '']
      if (flag === undefined) continue
      const file = join(folder, `${document.kind}.yaml`)
      await writeFile(file, block.text)
      args.push(flag, file)
    }
    oriel = await startOriel({ args })
    client = await clientOf(configAt(oriel, oriel.url))
  })
  after(async () => {
    client?.close()
    if (oriel !== undefined) await discard(oriel)
  })

  it('are read by the program, or have a reason', () => {
    const kinds = new Set(
      shown.map(({ document }) => document.kind ?? (document.views ? 'views' : 'mappings')),
    )
    const read = [
      ...Object.keys(flagOf),
      ...Object.keys(resources),
      ...Object.keys(others),
      'views',
      'mappings',
    ]
    assert.deepEqual([...kinds].sort(), read.sort())
  })

  it('are objects that the server admits, without unknown fields', async () => {
    for (const { block, document } of shown) {
      const resource = resources[document.kind ?? '']
      if (resource === undefined) continue
      const path = `/clusters/root/apis/${document.apiVersion}/${resource}?dryRun=All&fieldValidation=Strict`
      const { status, text } = await client(path, { method: 'POST', body: document })
      assert.equal(status, 201, `${block.page}:${block.line}: ${text}`)
    }
  })

  it('are lists of views and of mappings', async () => {
    for (const { block, document } of shown.filter(each => each.document.kind === undefined)) {
      const file = join(folder, 'list.yaml')
      await writeFile(file, block.text)
      const list =
        document.views === undefined ? parseMappings(block.text) : await listedViews({ views: file })
      assert.ok(list.length > 0, `${block.page}:${block.line}`)
    }
  })

  it('are JSON where they say so', () => {
    for (const { text } of allBlocks().filter(({ language }) => language === 'json'))
      assert.doesNotThrow(() => JSON.parse(text))
  })
})
