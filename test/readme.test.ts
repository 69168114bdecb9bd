import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { pages, viewPages, walkPages } from './documentation/pages.ts'
import { type Block, blocksOf } from './support/markdown.ts'
import { discard, type Oriel, readText, run, startOriel } from './support/oriel.ts'
import { freePort } from './support/servers/kcp.ts'
import { root } from './support/source.ts'

/** The README with values for this machine. */
const adapted = (text: string, oriel: Oriel, viewsPort: number): string =>
  text
    .replaceAll('https://localhost:6443', oriel.url)
    .replaceAll('.oriel/admin.kubeconfig', oriel.kubeconfig)
    .replaceAll(/--data-directory \.oriel\b/g, `--data-directory ${oriel.directory}`)
    .replaceAll('--secure-port 6444', `--secure-port ${viewsPort}`)
    .replaceAll('.oriel-views', `${oriel.directory}/views`)
    .replaceAll('127.0.0.1:6444', `127.0.0.1:${viewsPort}`)

/** `npm start` and `npm test` are skipped: the server runs already, and this is the test. */
const commands = (blocks: readonly Block[]): readonly Block[] =>
  blocks.filter(block => block.language === 'bash' && !/^npm (start|test)/m.test(block.text))

/** The output that the page shows after a block: each line, in any order and white space. */
function assertShows(stdout: string, promised: string): void {
  const lines = stdout.split('\n').map(squeeze)
  for (const line of promised.trim().split('\n').map(squeeze))
    assert.ok(
      lines.some(found => found.endsWith(line)),
      `'${line}' is not in:\n${stdout}`,
    )
}
const squeeze = (line: string): string => line.trim().replace(/\s+/g, ' ')

const allPages = (): readonly string[] =>
  pages()
    .map(({ path }) => path)
    .filter(path => !path.startsWith('test/') && path !== 'CHANGELOG.md')

/** `framework/server/pipeline.ts` in the text of a page. */
const sourceFile =
  /`((?:framework|virtual|authz|openapi|shard|proxy|cmd|test|bench|examples|scripts)\/[\w./-]+\.(?:ts|mjs|sh|md))`/g

const targets = (text: string, pattern: RegExp): readonly string[] =>
  [...text.matchAll(pattern)].map(([, target]) => target ?? '')

const textOf = (file: string): Promise<string> => readText(join(root, file))

describe('the README', function () {
  this.timeout(600_000)
  let oriel: Oriel
  before(async () => {
    // The page of the mounts mounts the server itself; that about writing views loads a view.
    const view = join(root, 'dist/examples/views/team.js')
    oriel = await startOriel({ args: ['--mount-allow', 'localhost', '--view', view] })
  })
  after(() => discard(oriel))

  it('has working commands, and so do the pages of the views and the guides', async () => {
    const blocks: Block[] = []
    for (const file of walkPages()) blocks.push(...blocksOf(await textOf(file)))
    const viewsPort = await freePort()
    const marker = '=== block '
    const script = commands(blocks).map(
      (block, i) => `printf '\\n${marker}${i}\\n'\n${adapted(block.text, oriel, viewsPort)}`,
    )
    const outcome = await run('sh', ['-euc', script.join('\n')])
    assert.equal(outcome.code, 0, `${outcome.stdout}\n${outcome.stderr}\n${oriel.output()}`)
    const outputs = outcome.stdout.split(new RegExp(`^${marker}\\d+$`, 'm')).slice(1)
    commands(blocks).forEach((block, i) => {
      const next = blocks[blocks.indexOf(block) + 1]
      if (next?.language === 'text') assertShows(outputs[i] ?? '', next.text)
    })
  })

  it('has pages of the views with the same structure', async () => {
    for (const file of viewPages()) {
      const headings = [...(await textOf(file)).matchAll(/^## (.*)$/gm)].map(([, heading]) => heading)
      assert.deepEqual(headings, ['Name', 'URL', 'APIs', 'Authorization', 'Example'], file)
    }
  })

  it('names files that exist, and so do all pages', async () => {
    for (const file of allPages()) {
      const text = await textOf(file)
      const linked = targets(text, /\]\((?!https?:)([^)#]+)\)/g).map(target =>
        join(dirname(file), fileOf(target)),
      )
      const missing = [...linked, ...targets(text, sourceFile)].filter(path => !existsSync(join(root, path)))
      assert.deepEqual(missing, [], file)
    }
  })
})

const fileOf = (target: string): string =>
  /\.[a-z]+$|Containerfile$/.test(target) ? target : `${target}/README.md`
