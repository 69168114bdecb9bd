import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { temporaryDirectory } from '../../test/support/temporary.ts'
import { loadModule } from './pluginmodule.ts'

describe('a module of --view whose top level awaits what does not end', () => {
  for (const [name, fresh] of [
    ['never.mjs', false],
    ['never.mjs', true],
    ['never.ts', false],
  ] as const)
    it(`is refused: ${name}${fresh ? ', read again' : ''}`, async () => {
      const file = join(await temporaryDirectory('pluginmodule'), name)
      await writeFile(file, 'await new Promise(() => undefined)\nexport default () => undefined\n')
      await assert.rejects(loadModule({ name, file }, fresh, 1), {
        message: 'the module was not loaded after 0.001 s: its top level awaits what does not end',
      })
    })
})

describe('a module that is loaded afresh', () => {
  const forms = {
    'plugin.mjs': (of: string) => `import { word } from './${of}'\nexport default word`,
    'plugin.js': (of: string) => `import { word } from './${of}'\nexport default word`,
    'plugin.ts': (of: string) => `import { word } from './${of}'\nexport default word as string`,
    'plugin.cjs': (of: string) => `module.exports = require('./${of}').word`,
  }

  for (const [name, content] of Object.entries(forms))
    it(`is read again, with what it imports: ${name}`, async () => {
      const folder = await temporaryDirectory('afresh')
      const file = join(folder, name)
      const word = name.endsWith('.cjs') ? 'word.cjs' : 'word.mjs'
      const exporting = word === 'word.cjs' ? 'exports.word =' : 'export const word ='
      await writeFile(join(folder, 'package.json'), '{"type":"module"}')
      await writeFile(file, content(word))
      for (const each of ['one', 'two']) {
        await writeFile(join(folder, word), `${exporting} '${each}'`)
        const { exported, files } = await loadModule({ name, file }, true)
        assert.equal(exported, each)
        assert.ok(files.includes(file))
      }
    })
})
