import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { readText } from './support/oriel.ts'
import { readTexts, root, type TextFile } from './support/source.ts'

interface Site {
  readonly contents: string
  anchorOf(heading: string, taken: Map<string, number>): string
  targetOf(page: string, href: string): { readonly file: string; readonly anchor: string } | undefined
  buildSite(folder: string): readonly string[]
}

/** The text of a page without its code, in which brackets are no links. */
const proseOf = (text: string): string => text.replace(/^```[\s\S]*?^```$/gm, '').replace(/`[^`\n]*`/g, 'x')

const linksOf = ({ text }: TextFile): readonly string[] =>
  [...proseOf(text).matchAll(/\]\(([^)\s]+)\)/g)].map(([, href = '']) => href)

describe('the documentation', () => {
  let site: Site
  let pages: readonly TextFile[]
  before(async () => {
    site = (await import(pathToFileURL(join(root, 'scripts/site.mjs')).href)) as Site
    pages = readTexts(['.md'])
  })

  const anchorsOf = (text: string): ReadonlySet<string> => {
    const taken = new Map<string, number>()
    const prose = text.replace(/^```[\s\S]*?^```$/gm, '')
    return new Set([...prose.matchAll(/^#+ (.*)$/gm)].map(([, title = '']) => site.anchorOf(title, taken)))
  }

  it('has links to files and headings that exist', () => {
    const byPath = new Map(pages.map(page => [page.path, anchorsOf(page.text)]))
    const broken = pages.flatMap(page =>
      linksOf(page).flatMap(href => {
        const target = site.targetOf(page.path, href)
        if (target === undefined) return []
        const { file, anchor } = target
        const anchors = byPath.get(file) ?? byPath.get(join(file, 'README.md'))
        const isGood = existsSync(join(root, file)) && (anchor === '' || anchors?.has(anchor) === true)
        return isGood ? [] : [`${page.path}: ${href}`]
      }),
    )
    assert.deepEqual(broken, [])
  })

  it('lists every page in its contents', () => {
    const listed = new Set(
      linksOf(pages.find(({ path }) => path === site.contents) ?? assert.fail('no contents')).map(
        href => site.targetOf(site.contents, href)?.file,
      ),
    )
    const own = pages.filter(({ path }) => /^(docs\/[^/]+|virtual\/[^/]+\/README)\.md$/.test(path))
    assert.deepEqual(
      own.map(({ path }) => path).filter(path => path !== site.contents && !listed.has(path)),
      [],
    )
  })

  it('is a site whose links all lead to pages and headings of it', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'oriel-site-'))
    try {
      site.buildSite(join(folder, 'site'))
      const files = await readdir(join(folder, 'site'), { recursive: true })
      const html = new Map<string, string>()
      for (const file of files.filter(name => name.endsWith('.html')))
        html.set(file, await readText(join(folder, 'site', file)))
      assert.ok(html.size > 30)
      const broken = [...html].flatMap(([file, text]) =>
        [...text.matchAll(/(?:href|src)="([^"#]*)(?:#([^"]*))?"/g)]
          .filter(
            ([, path = '', anchor]) => !/^[a-z]+:/.test(path) && !leads(files, html, file, path, anchor),
          )
          .map(([link]) => `${file}: ${link}`),
      )
      assert.deepEqual(broken, [])
    } finally {
      await rm(folder, { recursive: true })
    }
  })
})

/** Whether a link of a file of the site leads to a file of it, and to an element with the anchor. */
function leads(
  files: readonly string[],
  html: ReadonlyMap<string, string>,
  from: string,
  path: string,
  anchor?: string,
): boolean {
  const file = path === '' ? from : join(dirname(from), path)
  if (!files.includes(file)) return false
  return anchor === undefined || html.get(file)?.includes(`id="${anchor}"`) === true
}
