import assert from 'node:assert/strict'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { temporaryDirectory } from '../../test/support/temporary.ts'
import { loadListed } from './viewplugins.ts'

describe('a module of --view that is no plugin', () => {
  let folder: string
  before(async () => {
    folder = await temporaryDirectory('viewplugins')
    await mkdir(join(folder, 'directory'))
  })

  const refusal = async (name: string, content?: string): Promise<string> => {
    const view = join(folder, name)
    if (content !== undefined) await writeFile(view, content)
    const error = await loadListed({ view, options: {} }, { fresh: false }).then(
      () => assert.fail(`${name} was loaded`),
      (reason: Error) => reason.message,
    )
    return error.replaceAll(folder, '')
  }

  const broken = 'export default () => {\n  const a =\n}\n'
  const endings = '.js, .mjs, .cjs, .ts, .mts, .cts'
  const noView =
    'the plugin must return a view made by defineVirtualWorkspace(), or a list of such views, but it returned'
  const table: readonly (readonly [name: string, content: string | undefined, refusal: RegExp | string])[] = [
    [
      'broken.mjs',
      broken,
      /^Loading --view \/broken\.mjs failed: .*Unexpected token.* \/broken\.mjs:3:\d+\.$/,
    ],
    [
      'broken.cjs',
      broken.replace('export default', 'module.exports ='),
      /^Loading --view \/broken\.cjs failed: .*\/broken\.cjs:3:\d+\.$/,
    ],
    [
      'imports.mjs',
      "import './broken.mjs'\nexport default () => []",
      /^Loading --view \/imports\.mjs failed: \/imports\.mjs: .*Unexpected token.* \/broken\.mjs:3:\d+\.$/,
    ],
    [
      'named.mjs',
      "import { nothing } from 'node:fs'\nexport default nothing",
      "Loading --view /named.mjs failed: /named.mjs: The requested module 'node:fs' does not provide an export named 'nothing'.",
    ],
    [
      'directory',
      undefined,
      'Loading --view /directory failed: /directory is a directory: give the file of the view in it, such as /directory/view.ts.',
    ],
    [
      'view.jsx',
      '',
      `Loading --view /view.jsx failed: /view.jsx is not JavaScript or TypeScript: its name must end with ${endings}.`,
    ],
    [
      'nothing.mjs',
      'export default () => {}',
      `Loading --view /nothing.mjs failed: /nothing.mjs:1:16: ${noView} undefined.`,
    ],
    [
      'mixed.mjs',
      'export default () => [() => {}, undefined]',
      `Loading --view /mixed.mjs failed: /mixed.mjs:1:16: ${noView} a list with something else.`,
    ],
  ]
  for (const [name, content, expected] of table)
    it(`${name} is refused with one sentence that names it`, async () => {
      const text = await refusal(name, content)
      if (typeof expected === 'string') assert.equal(text, expected)
      else assert.match(text, expected)
    })
})
