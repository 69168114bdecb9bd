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
