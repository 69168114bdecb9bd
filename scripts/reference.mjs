// Writes docs/reference.md from the exports of framework/index.ts, their declarations and docstrings. With --announce it also
// writes docs/surface.json, to which a test compares the declarations.
import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseSync } from 'oxc-parser'

const root = fileURLToPath(new URL('..', import.meta.url))
const index = 'framework/index.ts'

/** The page, relative to the repository. */
export const page = 'docs/reference.md'

const head = `# Reference

All names that a view or a backend gets from the framework: the argument of a plugin (\`ViewPlugin\`), and the exports of
\`framework/index.ts\`. [Writing a view](writing-a-view.md) introduces them. Modules that are written in TypeScript
import the types from \`oriel/framework\`, and \`ViewPlugin\` from \`oriel/plugin\`. The other types are those of members and arguments; the
framework does not export them.

<!-- Made from the docstrings by \`npm run reference\`. -->
`

function parse(path) {
  const text = readFileSync(join(root, path), 'utf8')
  const { program, module, comments, errors } = parseSync(path, text)
  if (errors.length > 0) throw new Error(`${path}: ${errors[0].message}`)
  return { path, text, program, module, comments }
}

/** The exported names by group: a line comment with an empty line below it begins a group. */
function groupedNames() {
  const { text, module, comments } = parse(index)
  const titles = comments.filter(({ type, end }) => type === 'Line' && text.startsWith('\n\n', end))
  const groups = titles.map(({ start, value }) => ({ start, title: value.trim(), names: [] }))
  for (const { start, entries } of module.staticExports) {
    const group = groups.findLast(each => each.start < start)
    for (const { exportName, moduleRequest } of entries) {
      group.names.push({ name: exportName.name, path: relativeTo(index, moduleRequest.value) })
    }
  }
  return groups.filter(({ names }) => names.length > 0)
}

/** The declaration of a name: its offset, and the text that is printed; undefined if the file does not declare it. */
function declarationOf({ text, program }, name) {
  for (const node of program.body) {
    const declared = node.type === 'ExportNamedDeclaration' ? node.declaration : node
    const found = declared?.declarations?.find(({ id }) => id.name === name)
    if (found !== undefined) return { start: node.start, code: constant(text, found) }
    if (declared?.id?.name === name) return { start: node.start, code: printed(text, declared) }
  }
  return undefined
}

const slice = (text, { start, end }) => text.slice(start, end)

function printed(text, node) {
  if (node.type === 'FunctionDeclaration') return text.slice(node.start, node.body.start).trimEnd()
  if (node.type === 'ClassDeclaration') return classText(text, node)
  return slice(text, node)
}

/** An arrow function as a function, any other constant with its type. */
function constant(text, { id, init }) {
  if (init?.type === 'ArrowFunctionExpression') {
    const signature = text.slice(init.start, init.returnType.end)
    return `function ${id.name}${signature}`
  }
  return `const ${slice(text, id)}`
}

const isPublic = ({ key, accessibility }) =>
  key.type !== 'PrivateIdentifier' && (accessibility ?? 'public') === 'public'

/** The public members of a class, without bodies and values, with their docstrings. */
function classText(text, node) {
  const lines = node.body.body.filter(isPublic).map(member => {
    const { value } = member
    const end = value?.body?.start ?? (value === null ? member.end : value.start)
    const before = text.slice(node.body.start + 1, member.start)
    const [doc = ''] = /(?:\/\*\*(?:(?!\*\/)[\s\S])*\*\/\s*)$/.exec(before) ?? []
    return `  ${doc}${text.slice(member.start, end).replace(/\s*=?\s*$/, '')}`
  })
  return `${text.slice(node.start, node.body.start)}{\n${lines.join('\n')}\n}`
}

/** The text of the docstring that ends directly before `start`; '' without one. */
function docstringBefore({ text, comments }, start) {
  const comment = comments.findLast(({ end }) => end <= start)
  if (comment?.type !== 'Block' || !comment.value.startsWith('*')) return ''
  if (text.slice(comment.end, start).trim() !== '') return ''
  const lines = comment.value.slice(1).split('\n')
  return lines
    .map(line => line.replace(/^\s*\* ?/, '').trimEnd())
    .join('\n')
    .trim()
}

const parsed = new Map()

function source(path) {
  if (!parsed.has(path)) parsed.set(path, parse(path))
  return parsed.get(path)
}

function describe({ name, path }) {
  const file = source(path)
  const { start, code } = declarationOf(file, name)
  return { name, path, code, doc: docstringBefore(file, start) }
}

const relativeTo = (path, specifier) => relative(root, resolve(root, dirname(path), specifier))

/** The types in a declaration, each with the file that declares it. */
function typesIn({ name, path, code }) {
  const file = source(path)
  const imported = file.module.staticImports.flatMap(({ moduleRequest, entries }) =>
    moduleRequest.value.startsWith('.')
      ? entries.map(({ localName, importName }) => [
          localName.value,
          { name: importName.name, path: relativeTo(path, moduleRequest.value) },
        ])
      : [],
  )
  const found = new Map(imported)
  const words = code.replace(/\/\*[\s\S]*?\*\//g, '').match(/\b[A-Z]\w+\b/g) ?? []
  return [...new Set(words)]
    .filter(word => word !== name)
    .flatMap(word => found.get(word) ?? (declarationOf(file, word) ? { name: word, path } : []))
}

/** The types of members and arguments that the index does not export. */
function otherTypes(described) {
  const known = new Set(described.map(({ name }) => name))
  const types = new Map(described.flatMap(typesIn).map(type => [type.name, type]))
  return [...types.values()]
    .filter(({ name }) => !known.has(name))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .map(describe)
}

/** The public names by group, each with its declaration and docstring, and the types that these mention. */
export function surface() {
  const plugin = describe({ name: 'ViewPlugin', path: 'framework/plugin.ts' })
  const groups = groupedNames().map(({ title, names }) => ({ title, names: names.map(describe) }))
  const described = groups.flatMap(({ names }) => names)
  return { plugin, groups, others: otherTypes(described) }
}

const section = ({ name, path, code, doc }) =>
  `### ${name}\n\n${doc === '' ? '' : `${doc}\n\n`}\`\`\`ts\n${code}\n\`\`\`\n\n\`${path}\`\n`

const anchor = text => text.toLowerCase().replaceAll(' ', '-')

/** The text of the page. */
export function renderReference({ plugin, groups, others } = surface()) {
  const all = [{ title: 'Plugins', names: [plugin] }, ...groups, { title: 'Other types', names: others }]
  const contents = all.map(({ title, names }) => {
    const links = names.map(({ name }) => `[\`${name}\`](#${anchor(name)})`)
    return `| [${title}](#${anchor(title)}) | ${links.join(' ')} |\n`
  })
  const table = `| group | names |\n|---|---|\n${contents.join('')}`
  const sections = all.map(({ title, names }) => `## ${title}\n\n${names.map(section).join('\n')}`)
  return `${head}\n${table}\n${sections.join('\n')}`
}

/** The digests of the public declarations, relative to the repository. */
export const digests = 'docs/surface.json'

/** Without comments and white space, which change nothing for plugins. */
const digestOf = ({ code }) =>
  createHash('sha256')
    .update(code.replace(/\/\*[\s\S]*?\*\//g, '').replace(/\s+/g, ''))
    .digest('hex')
    .slice(0, 12)

/** The version of the surface, and a digest of each declaration. */
export function digested({ plugin, groups, others } = surface()) {
  const all = [plugin, ...groups.flatMap(({ names }) => names), ...others]
  const sorted = all.sort((a, b) => (a.name < b.name ? -1 : 1))
  const { text } = source('framework/contract/version.ts')
  const apiVersion = Number(/export const apiVersion = (\d+)$/m.exec(text)[1])
  return { apiVersion, names: Object.fromEntries(sorted.map(each => [each.name, digestOf(each)])) }
}

const write = (path, text) => writeFileSync(join(root, path), text)

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  write(page, renderReference())
  if (process.argv.includes('--announce')) write(digests, `${JSON.stringify(digested(), undefined, 2)}\n`)
}
