import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../support/source.ts'
import { allBlocks, blocksOfPage, type PageBlock, pages, tutorialPage, walkPages } from './pages.ts'
import { otherPrograms } from './programs.ts'

/** `bash`: run by a test. `sh`: checked by `commands.test.ts`. `text`: printed by the block above. None: a picture. */
const languages = ['bash', 'sh', 'text', 'yaml', 'json', 'js', 'ts', '']

/** Pages with a `text` below a block `sh`, and the test that compares it. */
const comparedBy: Readonly<Record<string, string>> = {
  'docs/mounts.md': 'test/e2e/proxy/startshards.test.ts',
}

const at = ({ page, line }: PageBlock): string => `${page}:${line}`

/** Lines that a reader would type into a shell. */
const looksTyped = new RegExp(
  `^(\\$ )?(oriel|npm|npx|${otherPrograms.filter(name => /^\w{3,}$/.test(name)).join('|')}) `,
  'm',
)

describe('the blocks of the pages', () => {
  it('have a language that tells how they are tested', () => {
    assert.deepEqual(
      allBlocks()
        .filter(({ language }) => !languages.includes(language))
        .map(at),
      [],
    )
    const fences = pages().filter(
      page => (page.text.match(/^ *```/gm) ?? []).length !== 2 * blocksOfPage(page).length,
    )
    assert.deepEqual(
      fences.map(({ path }) => path),
      [],
    )
  })

  it('are bash only where a test runs them', () => {
    const run = new Set([...walkPages(), tutorialPage])
    const others = allBlocks().filter(({ page, language }) => language === 'bash' && !run.has(page))
    assert.deepEqual(others.map(at), [])
  })

  it('are text only below a block that prints it', () => {
    const strays = pages().flatMap(page => {
      const blocks = blocksOfPage(page)
      const isStray = ({ language }: PageBlock, i: number): boolean =>
        language === 'text' && blocks[i - 1]?.language !== 'bash'
      return comparedBy[page.path] === undefined ? blocks.filter(isStray) : []
    })
    assert.deepEqual(strays.map(at), [])
    for (const [page, test] of Object.entries(comparedBy))
      assert.ok(readFileSync(join(root, test), 'utf8').includes(page), page)
  })

  it('have the language of a shell if they are commands', () => {
    const typed = allBlocks().filter(({ language, text }) => language === '' && looksTyped.test(text))
    assert.deepEqual(typed.map(at), [])
  })

  it('name folders that exist where they show the layout', () => {
    const [layout] = allBlocks().filter(({ page }) => page === 'CONTRIBUTING.md')
    const folders = [...(layout?.text ?? '').matchAll(/(?:^| {2})([a-z]+)\/ /gm)].map(([, name = '']) => name)
    assert.ok(folders.length >= 15, String(folders))
    assert.deepEqual(
      folders.filter(name => !existsSync(join(root, name))),
      [],
    )
  })
})
