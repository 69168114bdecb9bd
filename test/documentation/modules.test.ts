import assert from 'node:assert/strict'
import type { KubeObject } from '../../framework/index.ts'
import * as framework from '../../framework/index.ts'
import * as testing from '../../testing/index.ts'
import { allBlocks, type PageBlock } from './pages.ts'

/** A function with the text of a module, whose names of packages are its parameters. */
type Run = (...values: readonly unknown[]) => Promise<unknown>
const AsyncFunction = (async () => undefined).constructor as new (...parts: readonly string[]) => Run

const asFunction = (text: string): string =>
  text
    .replaceAll(/^import (\{[^}]*\}) from '(?:oriel\/)?(\w+)'$/gm, 'const $1 = $2')
    .replace(/^export default /m, 'return ')

describe('the modules of the pages', function () {
  this.timeout(60_000)
  const blocks = allBlocks().filter(({ language }) => language === 'js' || language === 'ts')
  const containing = (text: string): PageBlock =>
    blocks.find(block => block.text.includes(text)) ?? assert.fail(`there is no block with ${text}`)

  it('are those that run here', () => {
    assert.deepEqual(
      blocks.map(({ page, language }) => `${page} ${language}`),
      ['docs/writing-a-view.md js', 'docs/writing-a-view.md js', 'docs/writing-a-view.md ts'],
    )
  })

  it('are a view and its test, which finds what the page says', async () => {
    const team = await new AsyncFunction(asFunction(containing("defineVirtualWorkspace('team'").text))()
    const { text } = containing("from 'oriel/testing'")
    const test = `${asFunction(text)}\ntry { return [found, watch.lines()] } finally { await oriel.close() }`
    const [found, lines] = (await new AsyncFunction('testing', 'team', test)(testing, team)) as [
      readonly KubeObject[],
      readonly string[],
    ]
    assert.deepEqual(
      found.map(({ metadata }) => metadata.name),
      ['a'],
    )
    assert.deepEqual(lines, ['ADDED a'])
  })

  it('are a kind of objects in memory, with its resource', async () => {
    const { text } = containing('new ObjectMap(kind)')
    const imports = 'const { ObjectMap, apiSetOf, resourceOf, storageOf } = framework'
    const run = new AsyncFunction('framework', 'cluster', `${imports}\n${text}\nreturn [counts, apis]`)
    const [counts, apis] = (await run(framework, 'root')) as [object, { find?: unknown }]
    assert.ok(counts instanceof framework.ObjectMap)
    assert.equal(typeof apis.find, 'function')
  })
})
