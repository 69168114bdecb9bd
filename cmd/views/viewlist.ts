import { dirname, join } from 'node:path'
import { parseYaml, type YamlDocument } from '../../framework/wire/yaml.ts'
import { readFlagFile } from '../files/files.ts'
import { StartError } from '../files/starterror.ts'
import type { ViewFlags } from '../flags/serving.ts'

/** A view of `--view` or `--views`. */
export interface ListedView {
  /** A file, or the name of an installed package. */
  readonly view: string
  /** The second argument of the plugin. */
  readonly options: Readonly<Record<string, unknown>>
  /** Its process may have so many mebibytes in memory. Absent: it runs in this process. */
  readonly isolated?: { readonly memory: number }
}

/** The views of the flags, those of the file first. Throws `StartError` on an invalid file. */
export async function listedViews({ view = [], views }: ViewFlags): Promise<readonly ListedView[]> {
  const named = view.map(each => ({ view: each, options: {} }))
  return views === undefined ? named : [...(await readViews(views)), ...named]
}

/** Whether a view of the flags has `isolate: true`. Throws `StartError` on an invalid file. */
export const hasIsolated = async (flags: ViewFlags): Promise<boolean> =>
  (await listedViews(flags)).some(({ isolated }) => isolated !== undefined)

type Path = readonly (string | number)[]
/** The `StartError` for a value of the file. */
type Wrong = (path: Path, problem: string) => StartError

/** The file has the schema `docs/views.schema.json`. */
async function readViews(file: string): Promise<readonly ListedView[]> {
  const document = parsed(file, await readFlagFile('--views', file))
  const wrong: Wrong = (path, problem) =>
    new StartError(`--views ${file}:${document.lineOf(path)}: ${textOf(path)} ${problem}.`)
  const { views } = members(document.value, { path: [], known: ['views'], wrong })
  if (!Array.isArray(views)) throw wrong(['views'], 'must be a list')
  return views.map((each: unknown, i) => listed(each, ['views', i], { wrong, folder: dirname(file) }))
}

const textOf = (path: Path): string =>
  path
    .map(step => (typeof step === 'number' ? `[${step}]` : `.${step}`))
    .join('')
    .slice(1) || 'the file'

function parsed(file: string, text: string): YamlDocument {
  try {
    return parseYaml(text)
  } catch (error) {
    throw new StartError(`--views ${file} is not YAML: ${(error as Error).message.split('\n')[0]}.`)
  }
}

interface Checked {
  readonly path: Path
  /** undefined: all. */
  readonly known?: readonly string[]
  readonly wrong: Wrong
}

/** The members of an object. Throws `StartError` for other values and unknown members. */
function members(value: unknown, { path, known, wrong }: Checked): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw wrong(path, 'must be an object')
  const unknown = Object.keys(value).find(member => known?.includes(member) === false)
  if (unknown !== undefined)
    throw wrong([...path, unknown], `is unknown: the members are ${known?.join(', ')}`)
  return value as Readonly<Record<string, unknown>>
}

function listed(
  value: unknown,
  path: Path,
  { wrong, folder }: { readonly wrong: Wrong; readonly folder: string },
): ListedView {
  const known = ['view', 'options', 'isolate', 'memory']
  const { view, options = {}, isolate = false, memory } = members(value, { path, known, wrong })
  if (typeof view !== 'string' || view === '')
    throw wrong([...path, 'view'], 'must be a file, such as ./team.ts, or the name of an installed package')
  if (typeof isolate !== 'boolean') throw wrong([...path, 'isolate'], 'must be true or false')
  if (memory !== undefined && !isolate)
    throw wrong([...path, 'memory'], 'is the limit of the process of a view with isolate: true')
  return {
    view: besideFile(view, folder),
    options: members(options, { path: [...path, 'options'], wrong }),
    ...(isolate && { isolated: { memory: mebibytes(memory, [...path, 'memory'], wrong) } }),
  }
}

const defaultMemory = 512
const leastMemory = 128

/** `512Mi` or `2Gi` as mebibytes. */
function mebibytes(memory: unknown, path: Path, wrong: Wrong): number {
  if (memory === undefined) return defaultMemory
  const [, digits, unit] = /^(\d{1,6})(Mi|Gi)$/.exec(String(memory)) ?? []
  const found = Number(digits) * (unit === 'Gi' ? 1024 : 1)
  if (typeof memory === 'string' && found >= leastMemory) return found
  throw wrong(path, `must be a quantity such as ${defaultMemory}Mi or 2Gi, of at least ${leastMemory}Mi`)
}

/** Relative paths are relative to the file that has them. */
const besideFile = (view: string, folder: string): string =>
  /^\.{1,2}[\\/]/.test(view) ? `./${join(folder, view)}`.replace(/^\.\/(?=[\\/])/, '') : view
