import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { basename, dirname, extname, join, relative, resolve, sep } from 'node:path'
import { type EcmaScriptModule, parseSync, Visitor } from 'oxc-parser'

const above = resolve(import.meta.dirname, '../..')
/** The root of the repository, also for compiled files. */
export const root = basename(above) === 'dist' ? dirname(above) : above

/** Arguments of Node to run a module in this folder, as TypeScript or compiled, like this one. */
export const beside = ({ dirname, filename }: ImportMeta, name: string): readonly string[] => [
  ...process.execArgv,
  join(dirname, name + extname(filename)),
]

/** One import of a source file. `specifier` as written; `target` relative to the repository for relative imports. */
export interface Import {
  readonly specifier: string
  readonly target?: string
  /** A type-only import, which loads nothing. */
  readonly isType: boolean
}

/** One function of a source file, measured. */
export interface MeasuredFunction {
  readonly name: string
  readonly line: number
  readonly lines: number
  readonly parameters: number
  /** Contains tests of mocha. */
  readonly isSuite: boolean
}

export interface SourceFile {
  readonly path: string
  readonly lines: number
  readonly imports: readonly Import[]
  readonly functions: readonly MeasuredFunction[]
  /** The names of the exported types, interfaces and classes that the file declares. */
  readonly types: readonly string[]
}

/** All TypeScript files below those of these folders that exist, tests included, parsed. */
export async function readSources(folders: readonly string[]): Promise<readonly SourceFile[]> {
  const paths: string[] = []
  for (const folder of folders.filter(name => existsSync(join(root, name)))) {
    const entries = await readdir(join(root, folder), { recursive: true })
    paths.push(...entries.filter(e => /\.tsx?$/.test(e)).map(e => join(folder, e).split(sep).join('/')))
  }
  return paths.sort().map(readSource)
}

/** A file of the repository and its text. */
export interface TextFile {
  readonly path: string
  readonly text: string
}

/** Folders that builds, tests and package managers write. */
const generated = new Set(['node_modules', 'dist', '.git', '.tools', '.site'])

/** The files of the repository with these extensions, and scripts without one. */
export function readTexts(extensions: readonly string[]): readonly TextFile[] {
  const within = (folder: string): readonly string[] =>
    readdirSync(join(root, folder), { withFileTypes: true }).flatMap(entry => {
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`
      if (entry.isDirectory()) return generated.has(entry.name) ? [] : within(path)
      return extensions.includes(extname(entry.name)) || path === '.ci/run' ? [path] : []
    })
  return within('').map(path => ({ path, text: readFileSync(join(root, path), 'utf8') }))
}

function readSource(path: string): SourceFile {
  const text = readFileSync(join(root, path), 'utf8')
  const { program, module, errors } = parseSync(path, text)
  if (errors.length > 0) throw new Error(`${path}: ${errors[0]?.message}`)
  const lineAt = lineIndex(text)
  return {
    path,
    lines: text.split('\n').length - (text.endsWith('\n') ? 1 : 0),
    imports: importsOf(path, module, text),
    functions: functionsOf(program, text, lineAt),
    types: typesOf(program),
  }
}

const typeDeclarations = new Set(['TSTypeAliasDeclaration', 'TSInterfaceDeclaration', 'ClassDeclaration'])

const typesOf = ({ body }: Program): readonly string[] =>
  body.flatMap(statement => {
    const declared = statement.type === 'ExportNamedDeclaration' ? statement.declaration : null
    return declared && typeDeclarations.has(declared.type) && 'id' in declared
      ? ((declared.id as { name?: string } | null)?.name ?? [])
      : []
  })

/** Dynamic imports with computed names are ignored. */
const literal = (expression: string): readonly string[] =>
  /^(['"`])[^'"`$]*\1$/.test(expression) ? [expression.slice(1, -1)] : []

function importsOf(path: string, module: EcmaScriptModule, text: string): readonly Import[] {
  const found = new Map<string, boolean>()
  const add = (specifier: string, isType: boolean): void =>
    void found.set(specifier, isType && found.get(specifier) !== false)
  for (const { moduleRequest, entries } of module.staticImports)
    add(moduleRequest.value, entries.length > 0 && entries.every(entry => entry.isType))
  for (const { moduleRequest, isType } of module.staticExports.flatMap(({ entries }) => entries))
    if (moduleRequest) add(moduleRequest.value, isType)
  for (const { moduleRequest } of module.dynamicImports)
    for (const specifier of literal(text.slice(moduleRequest.start, moduleRequest.end))) add(specifier, false)
  return [...found].map(([specifier, isType]) => importOf(path, specifier, isType))
}

const importOf = (from: string, specifier: string, isType: boolean): Import =>
  specifier.startsWith('.')
    ? {
        specifier,
        isType,
        target: relative(root, resolve(root, dirname(from), specifier))
          .split(sep)
          .join('/'),
      }
    : { specifier, isType }

type Program = ReturnType<typeof parseSync>['program']

function functionsOf(
  program: Program,
  text: string,
  lineAt: (offset: number) => number,
): readonly MeasuredFunction[] {
  const found: MeasuredFunction[] = []
  const names = new Map<unknown, string>()
  const measure = (node: {
    start: number
    end: number
    params: readonly unknown[]
    id?: { name: string } | null
  }) => {
    const line = lineAt(node.start)
    const parameters = node.params.filter(p => (p as { name?: string }).name !== 'this').length
    found.push({
      name: node.id?.name ?? names.get(node) ?? '(anonymous)',
      line,
      lines: lineAt(node.end) - line + 1,
      parameters,
      isSuite: /\b(?:it|describe)\(\s*['"`]/.test(text.slice(node.start, node.end)),
    })
  }
  const nameOf = (key: unknown): string => (key as { name?: string }).name ?? '(computed)'
  new Visitor({
    VariableDeclarator: node => void names.set(node.init, nameOf(node.id)),
    MethodDefinition: node => void names.set(node.value, nameOf(node.key)),
    Property: node => void names.set(node.value, nameOf(node.key)),
    FunctionDeclaration: measure,
    FunctionExpression: measure,
    ArrowFunctionExpression: measure,
  }).visit(program)
  return found
}

/** Offset to line number, from 1. */
function lineIndex(text: string): (offset: number) => number {
  const starts = [0]
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) starts.push(at + 1)
  return offset => {
    let low = 0
    let high = starts.length - 1
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if ((starts[middle] ?? 0) <= offset) low = middle
      else high = middle - 1
    }
    return low + 1
  }
}
