import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type Import, readSources, root, type SourceFile } from './support/source.ts'

const folders = ['framework', 'virtual', 'authz', 'openapi', 'shard', 'proxy', 'cmd'] as const

/** Which folders each folder may import; node: and its own files always. `docs/adr` explains changes of this table. */
const allowedFolders: Readonly<Record<string, readonly string[]>> = {
  framework: [],
  authz: ['framework'],
  openapi: ['framework'],
  shard: ['framework', 'authz', 'openapi'],
  proxy: ['framework', 'authz', 'openapi'],
  virtual: ['framework', 'authz', 'openapi'],
  cmd: folders,
}

/** Third-party packages and the only files that may import them. */
const allowedPackages: Readonly<Record<string, RegExp>> = {
  koa: /^framework\/app\.ts$/,
  '@koa/router': /^framework\/[a-z-]+\.ts$/,
  jose: /^framework\/authn\//,
  pino: /^framework\/log\.ts$/,
  'prom-client': /^framework\/metrics\.ts$/,
  yaml: /^(framework\/encoding\/yaml\.ts|cmd\/kubeconfig\.ts)$/,
  'openapi-types': /^openapi\/documents\//,
  re2js: /^openapi\/pattern\.ts$/,
  'lru-cache': /^(openapi|framework|shard|authz|proxy)\/[a-z/-]+\.ts$/,
  lmdb: /^shard\/store\/lmdb\.ts$/,
  undici: /^proxy\/([a-z]+|shard\/connection)\.ts$/,
  commander: /^cmd\/[a-z/-]+\.ts$/,
}

const budgets = { file: 300, function: 40, median: 10, parameters: 4, viewIndex: 60 }

const isTest = (path: string): boolean => path.endsWith('.test.ts') || path.includes('/testing/')
const folderOf = (path: string): string => path.split('/')[0] ?? ''
const viewOf = (path: string): string | undefined => /^virtual\/([^/]+)\//.exec(path)?.[1]
const packageOf = (specifier: string): string =>
  specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/')

const median = (numbers: readonly number[]): number =>
  [...numbers].sort((a, b) => a - b)[numbers.length >> 1] ?? 0

/** What views have in common is in folders without an index (`docs/adr/0004-views-may-share-a-folder.md`). */
const isView = (folder: string | undefined): boolean =>
  folder !== undefined && existsSync(join(root, 'virtual', folder, 'index.ts'))

/** What is wrong with one import, or nothing. */
function problemOf({ path }: SourceFile, { specifier, target }: Import): string | undefined {
  if (specifier.startsWith('node:')) return undefined
  if (target === undefined)
    return allowedPackages[packageOf(specifier)]?.test(path)
      ? undefined
      : `${path} imports the package ${specifier}`
  const [from, to] = [folderOf(path), folderOf(target)]
  if (from !== to) {
    if (!allowedFolders[from]?.includes(to)) return `${path} imports ${target}: ${from} may not import ${to}`
    if (from === 'virtual' && !target.endsWith('/index.ts'))
      return `${path} imports ${target}: only the index`
  }
  const isInView = from === 'virtual' && viewOf(path) !== undefined
  if (isInView && to === 'virtual' && viewOf(target) !== viewOf(path) && isView(viewOf(target)))
    return `${path} imports another view: ${target}`
  return undefined
}

/** The first import cycle found, as a path of files. */
function findCycle(sources: readonly SourceFile[]): readonly string[] | undefined {
  const imports = new Map(sources.map(s => [s.path, s.imports.flatMap(i => i.target ?? [])]))
  const done = new Set<string>()
  const visit = (path: string, trail: readonly string[]): readonly string[] | undefined => {
    if (trail.includes(path)) return [...trail.slice(trail.indexOf(path)), path]
    if (done.has(path)) return undefined
    for (const next of imports.get(path) ?? []) {
      const cycle = visit(next, [...trail, path])
      if (cycle) return cycle
    }
    done.add(path)
    return undefined
  }
  for (const { path } of sources) {
    const cycle = visit(path, [])
    if (cycle) return cycle
  }
  return undefined
}

describe('architecture', () => {
  let sources: readonly SourceFile[]
  before(async () => {
    sources = (await readSources(folders)).filter(s => !isTest(s.path))
    assert.ok(sources.length > 40, 'the sources were found')
  })

  it('imports only what the table allows', () => {
    const problems = sources.flatMap(source => source.imports.flatMap(i => problemOf(source, i) ?? []))
    assert.deepEqual(problems, [])
  })

  it('has no import cycles', () => assert.deepEqual(findCycle(sources), undefined))

  it(`keeps files within ${budgets.file} lines`, () => {
    assert.deepEqual(
      sources.filter(s => s.lines > budgets.file).map(s => `${s.path}: ${s.lines}`),
      [],
    )
  })

  it(`keeps functions within ${budgets.function} lines, in the median ${budgets.median}`, () => {
    const measured = sources.flatMap(s => s.functions.map(f => ({ ...f, path: s.path })))
    const long = measured.filter(f => f.lines > budgets.function)
    assert.deepEqual(
      long.map(f => `${f.path}:${f.line} ${f.name}: ${f.lines}`),
      [],
    )
    assert.ok(median(measured.map(f => f.lines)) <= budgets.median)
  })

  it(`gives functions at most ${budgets.parameters} parameters`, () => {
    const wide = sources.flatMap(s =>
      s.functions.filter(f => f.parameters > budgets.parameters).map(f => `${s.path}:${f.line} ${f.name}`),
    )
    assert.deepEqual(wide, [])
  })

  it(`keeps a view's index within ${budgets.viewIndex} lines`, () => {
    const long = sources.filter(
      s => /^virtual\/[^/]+\/index\.ts$/.test(s.path) && s.lines > budgets.viewIndex,
    )
    assert.deepEqual(
      long.map(s => s.path),
      [],
    )
  })
})
