import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { discard, kubectlFor, readText, run, startOriel } from '../../support/oriel.ts'
import { installPacked, link, type PackedProject, typeErrorsIn } from '../../support/packed.ts'

const linkTargets = (page: string): readonly string[] =>
  [...page.matchAll(/\]\((?!https?:)([^)#]+)\)/g)].map(([, target]) => target ?? '')

describe('the package', function () {
  this.timeout(300_000)
  let project: PackedProject
  before(async () => {
    project = await installPacked()
  })

  const node = (source: string) =>
    run(process.execPath, ['--input-type=module', '-e', source], { cwd: project.folder })

  it('has no tests, and no code of tests', () => {
    const tests = project.files.filter(file =>
      /\.test\.|^dist\/(test|bench|examples)\/|^dist\/.+\/testing\//.test(file),
    )
    assert.deepEqual(tests, [])
  })

  it('has the targets of all links of its pages', async () => {
    const missing: string[] = []
    for (const page of project.files.filter(file => file.endsWith('.md'))) {
      const folder = join(project.folder, 'node_modules/oriel', dirname(page))
      const text = await readText(join(project.folder, 'node_modules/oriel', page))
      missing.push(...linkTargets(text).filter(target => !existsSync(join(folder, target))))
    }
    assert.deepEqual(missing, [])
  })

  it('has modules that can be imported, with its declared dependencies', async () => {
    const { code, stdout, stderr } = await node(`
      const names = ['framework', 'plugin', 'authz', 'openapi', 'testing', 'virtual']
      const modules = await Promise.all(names.map(name => import('oriel/' + name)))
      const { viewOf } = modules[0]
      const { startInstallation } = modules[4]
      console.log(typeof viewOf, typeof startInstallation)`)
    assert.equal(code, 0, stderr)
    assert.equal(stdout, 'function function\n')
  })

  it('has no other modules', async () => {
    const internal = [
      'oriel/dist/framework/lens/view.js',
      'oriel/framework/lens/view.js',
      'oriel/shard',
      'oriel/cmd/main.js',
    ]
    const { stdout, stderr } = await node(`
      for (const name of ${JSON.stringify(internal)})
        console.log(await import(name).then(() => 'imported', error => error.code))`)
    assert.equal(stdout, 'ERR_PACKAGE_PATH_NOT_EXPORTED\n'.repeat(internal.length), stderr)
  })

  describe('serves a view that is an installed package', () => {
    before(async () => {
      const view = join(project.folder, 'node_modules/words-view')
      await mkdir(view)
      const manifest = { name: 'words-view', version: '1.0.0', type: 'module', exports: './words.ts' }
      await writeFile(join(view, 'package.json'), JSON.stringify(manifest))
      await writeFile(join(view, 'words.ts'), words)
      const listed = 'views:\n- view: words-view\n  options:\n    kind: secrets\n'
      await writeFile(join(project.folder, 'views.yaml'), listed)
    })

    for (const [way, flags, kind] of [
      ['by --view', ['--view', 'words-view'], 'configmaps'],
      ['in the file of --views, with options', ['--views', 'views.yaml'], 'secrets'],
    ] as const)
      it(way, async () => {
        const program = join(project.folder, 'node_modules/oriel/dist/bundle/oriel.cjs')
        const args = ['--store', 'memory:', ...flags]
        const oriel = await startOriel({ args, program, cwd: project.folder })
        try {
          const path = '/services/words/clusters/root/api/v1'
          const { resources } = JSON.parse(await kubectlFor(oriel, 'base')(['get', '--raw', path]))
          assert.deepEqual(
            (resources as readonly { readonly name: string }[]).map(({ name }) => name),
            [kind],
          )
        } finally {
          await discard(oriel)
        }
      })
  })

  it('refuses a view that is not installed, with one sentence', async () => {
    const program = join(project.folder, 'node_modules/oriel/dist/bundle/oriel.cjs')
    const args = [program, 'start', '--store', 'memory:', '--port', '0', '--view', 'no-such-view']
    const { code, stderr } = await run(process.execPath, args, { cwd: project.folder })
    assert.equal(code, 1)
    assert.match(
      stderr,
      /^oriel: Loading --view no-such-view failed: there is no file \S+, and no package "no-such-view" is installed in \S+\.\n$/,
    )
  })

  it('has types for its modules', async () => {
    const types = join(project.folder, 'types')
    await mkdir(types)
    await writeFile(join(types, 'uses.ts'), uses)
    assert.equal(await typeErrorsIn(types, { files: ['uses.ts'] }), '')
  })

  it('has examples whose types are right', async () => {
    const folder = join(project.folder, 'node_modules/oriel/examples')
    await link(project.folder, ['@kubernetes/client-node', '@types/koa', 'node-sqlite3-wasm'])
    assert.equal(await typeErrorsIn(folder, { include: ['.'] }), '')
  })
})

const words = `
import type { ViewPlugin } from 'oriel/plugin'
export const apiVersion: number = 1
const plugin: ViewPlugin = ({ allow, apiSetOf, defineVirtualWorkspace, loopback }, { kind = 'configmaps' }) =>
  defineVirtualWorkspace('words', '/services/words', ({ backend }) => {
    const apis = apiSetOf([backend.apis('*')!.find('', 'v1', String(kind))!])
    return { apis: () => apis, authorize: async () => allow('a test'), actAs: () => loopback }
  })
export default plugin
`

/** A module that gives wrong types where the declarations are missing. */
const uses = `
import type { Lens, ResourceStorage } from 'oriel/framework'
import type { ViewPlugin } from 'oriel/plugin'
import { type Installation, startInstallation } from 'oriel/testing'

const lens: Lens = { matches: ({ labels }) => labels.team === 'ops' }
export const plugin: ViewPlugin = f =>
  f.defineVirtualWorkspace('team', '/services/team/:team', ({ backend }) => {
    const found = backend.apis('*')?.find('', 'v1', 'configmaps')
    if (found === undefined) throw new Error('there are no config maps')
    const storage: ResourceStorage = f.viewOf(found.storage, ({ params }) => {
      // @ts-expect-error: the name of a param is checked
      params.team.toFixed()
      return lens
    })
    return { apis: () => f.apiSetOf([{ ...found, storage }]) }
  })
export const start = (): Promise<Installation> => startInstallation({ plugins: [plugin] })
// @ts-expect-error: an installation has plugins
startInstallation({})
`
