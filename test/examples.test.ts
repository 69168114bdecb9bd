import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './support/source.ts'

const folder = 'examples/views'
const examples = readdirSync(join(root, folder)).filter(name => /^[a-z]+\.ts$/.test(name))
const textOf = (name: string): string => readFileSync(join(root, folder, name), 'utf8')

/** The lines of a module without comments, imports and empty lines. */
const linesOf = (text: string): readonly string[] =>
  text
    .replace(/\/\*[\s\S]*?\*\//g, '')
    .replace(/^import [\s\S]*?'\n/gm, '')
    .split('\n')
    .filter(line => line.trim() !== '' && !line.trim().startsWith('//'))

describe('the examples of views', () => {
  it('have at most 50 lines each, without imports and comments', () => {
    assert.ok(examples.length >= 8, 'the examples were found')
    const long = examples.map(name => [name, linesOf(textOf(name)).length] as const).filter(([, n]) => n > 50)
    assert.deepEqual(long, [])
  })

  it('have a section in the README of their folder', () => {
    const page = textOf('README.md')
    assert.deepEqual(
      examples.filter(name => !page.includes(`\n## [${name}](${name})`)),
      [],
    )
  })

  it('have a test', () => {
    const tests = readdirSync(join(root, folder)).filter(name => name.endsWith('.test.ts'))
    const others = [
      join(root, 'testing/installation.test.ts'),
      join(root, 'test/e2e/views/viewplugins.test.ts'),
    ]
    const all = [...tests.map(name => join(root, folder, name)), ...others]
      .map(path => readFileSync(path, 'utf8'))
      .join()
    assert.deepEqual(
      examples.filter(name => !all.includes(`/${name}'`) && !all.includes(`'${name.replace('.ts', '')}'`)),
      [],
    )
  })
})
