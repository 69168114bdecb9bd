import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import {
  allowedFolders,
  allowedPackages,
  beside,
  budgets,
  folders,
  layers,
  roomsForViews,
} from './support/house.ts'
import {
  type Import,
  type MeasuredFunction,
  readSources,
  readTexts,
  root,
  type SourceFile,
} from './support/source.ts'

const isTest = (path: string): boolean => path.endsWith('.test.ts') || path.includes('/testing/')
const roomOf = (path: string): string => dirname(path)
const folderOf = (path: string): string => path.split('/')[0] ?? ''
const viewOf = (path: string): string | undefined => /^virtual\/([^/]+)\//.exec(path)?.[1]
const packageOf = (specifier: string): string =>
  specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/')

const median = (numbers: readonly number[]): number =>
  [...numbers].sort((a, b) => a - b)[numbers.length >> 1] ?? 0

/** Code that views share is in folders without an index (`docs/adr/0004-views-may-share-a-folder.md`). */
const isView = (folder: string | undefined): boolean =>
  folder !== undefined && existsSync(join(root, 'virtual', folder, 'index.ts'))

const isRoomForViews = (target: string): boolean =>
  roomsForViews.some(room => roomOf(target) === `framework/${room}`)

/** The problem of one import, or undefined. */
function problemOf({ path }: SourceFile, { specifier, target }: Import): string | undefined {
  if (specifier.startsWith('node:')) return undefined
  if (target === undefined)
    return allowedPackages[packageOf(specifier)]?.test(path)
      ? undefined
      : `${path} imports the package ${specifier}`
  const [from, to] = [folderOf(path), folderOf(target)]
  if (from !== to) {
    if (!allowedFolders[from]?.includes(to)) return `${path} imports ${target}: ${from} may not import ${to}`
    if (from === 'virtual' && !target.endsWith('/index.ts') && !isRoomForViews(target))
      return `${path} imports ${target}: views import indexes, and rooms of roomsForViews`
  }
  const isInView = from === 'virtual' && viewOf(path) !== undefined
  if (isInView && to === 'virtual' && viewOf(target) !== viewOf(path) && isView(viewOf(target)))
    return `${path} imports another view: ${target}`
  return undefined
}

/** The layer of a room in its folder's table; undefined for folders without a table, -1 for missing rooms. */
function layerOf(room: string): number | undefined {
  const table = layers[folderOf(room)]
  const name = room.split('/').slice(1).join('/') || '.'
  return table?.findIndex(layer => layer.split(' ').includes(name))
}

/** Imports that lead to a room of the same layer or of a higher one. */
function upwardImports({ path, imports }: SourceFile): readonly string[] {
  const from = roomOf(path)
  return imports.flatMap(({ target }) => {
    if (target === undefined || roomOf(target) === from || folderOf(target) !== folderOf(path)) return []
    const [above, below] = [layerOf(from), layerOf(roomOf(target))]
    return above === undefined || below === undefined || below < above ? [] : [`${path} imports ${target}`]
  })
}

/** Pairs of rooms that import each other. */
function mutualRooms(sources: readonly SourceFile[]): readonly string[] {
  const pairs = new Set(
    sources.flatMap(({ path, imports }) =>
      imports.flatMap(({ target }) =>
        target === undefined || roomOf(target) === roomOf(path) ? [] : [`${roomOf(path)} ${roomOf(target)}`],
      ),
    ),
  )
  return [...pairs].filter(pair => pairs.has(pair.split(' ').reverse().join(' '))).sort()
}

/** Rooms with too many source files. */
function fullRooms(sources: readonly SourceFile[], most: number): readonly string[] {
  const counts = new Map<string, number>()
  for (const { path } of sources) counts.set(roomOf(path), (counts.get(roomOf(path)) ?? 0) + 1)
  return [...counts].filter(([, count]) => count > most).map(([room, count]) => `${room}: ${count}`)
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

/** A file, and all files that it loads. */
function loadedWith(path: string, sources: readonly SourceFile[]): ReadonlySet<string> {
  const byPath = new Map(sources.map(source => [source.path, source]))
  const found = new Set([path])
  for (const each of found)
    for (const { target, isType } of byPath.get(each)?.imports ?? []) if (target && !isType) found.add(target)
  return found
}

const longFiles = (sources: readonly SourceFile[], most: number): readonly string[] =>
  sources.filter(({ lines }) => lines > most).map(({ path, lines }) => `${path}: ${lines}`)

/** Suites are excluded: their tests are measured one by one. */
const longFunctions = (sources: readonly SourceFile[], most: number): readonly string[] =>
  functionsWhere(sources, ({ lines, isSuite }) => lines > most && !isSuite)

const wideFunctions = (sources: readonly SourceFile[], most: number): readonly string[] =>
  functionsWhere(sources, ({ parameters }) => parameters > most)

const functionsWhere = (
  sources: readonly SourceFile[],
  is: (measured: MeasuredFunction) => boolean,
): readonly string[] =>
  sources.flatMap(({ path, functions }) =>
    functions.filter(is).map(({ name, line, lines }) => `${path}:${line} ${name}: ${lines}`),
  )

/** Names of exported types, interfaces and classes that are declared in several files. */
function repeatedTypes(sources: readonly SourceFile[]): readonly string[] {
  const paths = new Map<string, string[]>()
  for (const { path, types } of sources)
    for (const name of types) paths.set(name, [...(paths.get(name) ?? []), path])
  return [...paths]
    .filter(([, { length }]) => length > 1)
    .map(([name, found]) => `${name}: ${found.join(' ')}`)
}

/** Files with a pattern, except those that may have it. */
const filesWith = (pattern: RegExp, may: (path: string) => boolean): readonly string[] =>
  readTexts(['.ts', '.md', '.mjs', '.cjs', '.sh', '.yaml', '.go'])
    .filter(({ path, text }) => !may(path) && pattern.test(text))
    .map(({ path }) => path)

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

  it('imports only rooms of lower layers', () => {
    assert.deepEqual(sources.flatMap(upwardImports), [])
    const rooms = [...new Set(sources.map(({ path }) => roomOf(path)))]
    assert.deepEqual(
      rooms.filter(room => layerOf(room) === -1),
      [],
      'every room is in the table of its folder',
    )
  })

  it('has no two rooms that import each other', () => assert.deepEqual(mutualRooms(sources), []))

  it(`holds at most ${budgets.room} source files in a room`, () =>
    assert.deepEqual(fullRooms(sources, budgets.room), []))

  it('has no import cycles', () => assert.deepEqual(findCycle(sources), undefined))

  it('loads no file of the embedded shard for views in front of another shard', () => {
    const loaded = [...loadedWith('cmd/views/virtualworkspaces.ts', sources)]
    assert.ok(loaded.includes('remote/backend.ts'), 'imports were followed')
    assert.deepEqual(
      loaded.filter(path => folderOf(path) === 'shard'),
      [],
    )
  })

  it(`keeps files within ${budgets.file} lines`, () => assert.deepEqual(longFiles(sources, budgets.file), []))

  it(`keeps functions within ${budgets.function} lines, in the median ${budgets.median}`, () => {
    const isMarkup = ({ path }: SourceFile): boolean => path.endsWith('.tsx')
    const code = sources.filter(source => !isMarkup(source))
    assert.deepEqual(longFunctions(code, budgets.function), [])
    assert.deepEqual(longFunctions(sources.filter(isMarkup), budgets.markup), [])
    const all = sources.flatMap(source => source.functions.map(({ lines }) => lines))
    assert.ok(median(all) <= budgets.median)
  })

  it(`gives functions at most ${budgets.parameters} parameters`, () =>
    assert.deepEqual(wideFunctions(sources, budgets.parameters), []))

  it('exports no name of a type from two files', () => assert.deepEqual(repeatedTypes(sources), []))

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

describe('the repository', () => {
  it('cites rules.md and upstream sources, no chapters of other texts', () =>
    assert.deepEqual(
      filesWith(/\bchapters? \d/i, () => false),
      [],
    ))

  it('names no path outside itself, except for the data that .ci/run uses', () =>
    assert.deepEqual(
      filesWith(/\bshared\/(?:data|design|reference)\b|(?<![\w.])\/work\//, path => path === '.ci/run'),
      [],
    ))
})

describe('the architecture of tests', () => {
  let sources: readonly SourceFile[]
  before(async () => {
    const all = await readSources([...folders, ...beside.folders])
    sources = all.filter(({ path }) => isTest(path) || beside.folders.includes(folderOf(path)))
    assert.ok(sources.length > 300, 'the tests were found')
  })

  it(`holds at most ${budgets.room} source files in a room of test and bench, tests included`, () =>
    assert.deepEqual(
      fullRooms(
        sources.filter(({ path }) => beside.folders.includes(folderOf(path))),
        budgets.room,
      ),
      [],
    ))

  it(`keeps files within ${beside.file} lines`, () => assert.deepEqual(longFiles(sources, beside.file), []))

  it(`keeps functions that are no suites within ${beside.function} lines`, () =>
    assert.deepEqual(longFunctions(sources, beside.function), []))

  it('skips tests with a reason only', () => {
    const silent = readTexts(['.ts']).filter(
      ({ path, text }) =>
        path !== 'test/support/notrun.ts' && /\b(?:this|it|describe|context)\.skip\(/.test(text),
    )
    assert.deepEqual(
      silent.map(({ path }) => `${path}: use test/support/notrun.ts`),
      [],
    )
  })

  it(`gives functions at most ${beside.parameters} parameters`, () =>
    assert.deepEqual(wideFunctions(sources, beside.parameters), []))
})
