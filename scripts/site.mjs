// Writes the documentation as a site: npm run site. The pages are docs/README.md and all that it leads to.
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, extname, join, posix, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Marked } from 'marked'

const root = fileURLToPath(new URL('..', import.meta.url))

/** The page with the contents, relative to the repository. */
export const contents = 'docs/README.md'

/** The anchor of a heading, as on the pages of a repository; `taken` counts those of the page. */
export function anchorOf(heading, taken) {
  const plain = heading.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').replace(/[`*]/g, '')
  const anchor = plain
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replace(/\s/g, '-')
  const count = taken.get(anchor) ?? 0
  taken.set(anchor, count + 1)
  return count === 0 ? anchor : `${anchor}-${count}`
}

/** The file that a link of a page leads to, and its anchor; undefined for other sites. A folder is its README. */
export function targetOf(page, href) {
  if (/^[a-z]+:/.test(href)) return undefined
  const [path = '', anchor = ''] = href.split('#')
  const file = path === '' ? page : posix.normalize(posix.join(posix.dirname(page), path))
  return { file: file.endsWith('/') ? `${file}README.md` : file, anchor }
}

const isPage = file => extname(file) === '.md' && existsSync(join(root, file))
const isImage = file => extname(file) === '.svg'

const htmlOf = file => file.replace(/(README)?\.md$/, (_all, readme) => (readme ? 'index.html' : '.html'))

const linkTo = (page, { file, anchor }) =>
  `${relative(dirname(htmlOf(page)), htmlOf(file))}${anchor === '' ? '' : `#${anchor}`}`

/** Links to pages lead to their HTML, links to other files of the repository are text. */
function rendererOf(page, found) {
  const taken = new Map()
  const link = function ({ href, tokens }) {
    const text = this.parser.parseInline(tokens)
    const target = targetOf(page, href)
    if (target === undefined) return `<a href="${href}">${text}</a>`
    if (!isPage(target.file)) return text
    found.add(target.file)
    return `<a href="${linkTo(page, target)}">${text}</a>`
  }
  const image = ({ href, text }) => {
    const target = targetOf(page, href)
    if (target !== undefined && isImage(target.file)) found.add(target.file)
    return `<img src="${href}" alt="${text}">`
  }
  const heading = function ({ tokens, depth, text }) {
    return `<h${depth} id="${anchorOf(text, taken)}">${this.parser.parseInline(tokens)}</h${depth}>\n`
  }
  return { link, image, heading }
}

const style = `
:root { color-scheme: light dark; --line: #8884; --link: light-dark(#2457a6, #8ab4f8) }
body { margin: 0; display: grid; grid-template-columns: 17rem minmax(0, 1fr); font: 16px/1.55 system-ui, sans-serif }
nav { padding: 1rem 1.5rem; border-right: 1px solid var(--line); font-size: .92rem; height: 100vh; overflow: auto; position: sticky; top: 0; box-sizing: border-box }
nav h1 { font-size: 1.1rem } nav h2 { font-size: .95rem; margin: 1.2rem 0 .3rem } nav ul { list-style: none; padding: 0; margin: 0 } nav p, nav img { display: none }
main { padding: 1rem 2.5rem 4rem; max-width: 60rem } img { max-width: 100% } a { color: var(--link) }
code, pre { font: .9em ui-monospace, monospace } pre { padding: .8rem; border: 1px solid var(--line); border-radius: 6px; overflow: auto }
table { border-collapse: collapse; display: block; overflow: auto } td, th { border: 1px solid var(--line); padding: .35rem .6rem; text-align: left; vertical-align: top }
@media (max-width: 50rem) { body { display: block } nav { height: auto; position: static; border: 0 } }`

/** The list of contents beside each page: titles and links, without descriptions. */
function navigation(page) {
  const text = readFileSync(join(root, contents), 'utf8').replace(/\): .*$/gm, ')')
  const lists = text.slice(text.indexOf('\n## ')).replace(/\]\(([^)]*)\)/g, (_all, href) => {
    const target = targetOf(contents, href)
    return `](${relative(dirname(page), target.file)})`
  })
  return new Marked({ renderer: rendererOf(page, new Set()) }).parse(
    `# [Oriel](${relative(dirname(page), contents)})\n${lists}`,
  )
}

/** The HTML of a page, and the files that it leads to. */
function render(page) {
  const found = new Set()
  const text = readFileSync(join(root, page), 'utf8')
  const body = new Marked({ renderer: rendererOf(page, found) }).parse(text)
  const [, title = page] = /^# (.*)$/m.exec(text) ?? []
  const head = `<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${title.replace(/[`<>]/g, '')} · Oriel</title><style>${style}</style>`
  const html = `<!doctype html>\n<html lang="en"><head>${head}</head>\n<body><nav>${navigation(page)}</nav>\n<main>${body}</main></body></html>\n`
  return { html, found }
}

/** Writes the site into an empty folder, and returns its pages, relative to the repository. */
export function buildSite(folder) {
  rmSync(folder, { recursive: true, force: true })
  const files = new Set([contents])
  for (const file of files) {
    const target = join(folder, htmlOf(file))
    mkdirSync(dirname(target), { recursive: true })
    if (isImage(file)) copyFileSync(join(root, file), target)
    else {
      const { html, found } = render(file)
      writeFileSync(target, html)
      for (const each of found) files.add(each)
    }
  }
  return [...files]
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const pages = buildSite(join(root, '.site'))
  process.stdout.write(`${pages.length} pages: .site/${htmlOf(contents)}\n`)
}
