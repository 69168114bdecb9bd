import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../support/source.ts'
import { flagsOfOthers, otherPrograms, type Program } from './programs.ts'
import type { ShellCommand } from './shell.ts'

const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  scripts: Readonly<Record<string, string>>
}

/** What is wrong with a command of a page; nothing for one that the program, its scripts and the files can run. */
export function problemsOf(command: ShellCommand, program: Program, known: string): readonly string[] {
  const words = withoutRunner(command.words)
  const [name = '', ...args] = words
  return [
    ...problemsOfProgram(name, args, program),
    ...command.words.flatMap(missingFile),
    ...(isOurs(command.words[0] ?? '')
      ? command.variables.filter(variable => !known.includes(variable))
      : []
    ).map(variable => `nothing reads ${variable}`),
  ]
}

const isOurs = (name: string): boolean => ['npm', 'npx', 'node', 'oriel'].includes(name)

/** `oriel doctor` for the other ways to run it. */
function withoutRunner(words: readonly string[]): readonly string[] {
  const text = words.join(' ')
  for (const runner of ['npx oriel', 'kubectl oriel', 'node dist/cmd/main.js'])
    if (text === runner || text.startsWith(`${runner} `)) return ['oriel', ...words.slice(2)]
  if (/^npm start\b/.test(text)) return ['oriel', 'start', ...words.slice(3)]
  if (/^(sudo|npx|exec) /.test(text)) return words.slice(1)
  return words
}

function problemsOfProgram(name: string, args: readonly string[], program: Program): readonly string[] {
  if (name === 'oriel') return problemsOfOriel(args, program)
  if (name === 'npm') return problemsOfNpm(args)
  if (name.startsWith('$BIN/')) return problemsOfProgram(name.slice('$BIN/'.length), args, program)
  if (name === 'docker') return problemsOfDocker(args, program)
  return problemsOfOther(name, args)
}

/** After the name of the image the arguments are those of the program. */
function problemsOfDocker(args: readonly string[], program: Program): readonly string[] {
  const image = args.indexOf('oriel')
  const isRun = args[0] === 'run' && image > 0
  const own = isRun ? args.slice(0, image) : args
  return [
    ...problemsOfOther('docker', own),
    ...(isRun ? problemsOfOriel(args.slice(image + 1), program) : []),
  ]
}

function problemsOfOther(name: string, args: readonly string[]): readonly string[] {
  if (!otherPrograms.includes(name)) return [`unknown program ${name}`]
  return unknownFlags(args, new Set(flagsOfOthers[name])).map(
    flag => `${name} has no flag ${flag} in flagsOfOthers`,
  )
}

function problemsOfOriel(args: readonly string[], program: Program): readonly string[] {
  const path = [args.slice(0, 2).join(' '), args[0] ?? '', ''].find(each => program.has(each)) ?? ''
  const rest = path === '' ? args : args.slice(path.split(' ').length)
  const [next = '-'] = rest
  if (hasCommands(path, program) && !next.startsWith('-') && !isPlaceholder(next))
    return [`${['oriel', path].join(' ').trim()} has no command ${next}`]
  const flags = program.get(path) ?? assert.fail(path)
  return unknownFlags(rest, flags).map(flag => `oriel ${path} has no flag ${flag}`)
}

const hasCommands = (path: string, program: Program): boolean =>
  path === '' || [...program.keys()].some(each => each.startsWith(`${path} `))

const isPlaceholder = (word: string): boolean => /^(<.*>|\[.*|…|\$.*)$/.test(word)

function problemsOfNpm([command = '', name = '', ...others]: readonly string[]): readonly string[] {
  if (['init', 'install', 'ci', 'pack'].includes(command)) return []
  const script = command === 'run' ? name : command
  if (scripts[script] === undefined) return [`package.json has no script ${script}`]
  return script === 'bench' ? others.flatMap(unknownBench) : []
}

const benches = [
  ...readFileSync(join(root, 'bench/main.ts'), 'utf8').matchAll(/^ {2}'?([a-z][a-z-]*)'?[:,]/gm),
].map(([, name]) => name)

const unknownBench = (word: string): readonly string[] =>
  /^[a-z]/.test(word) && !benches.includes(word) ? [`there is no bench ${word}`] : []

/** The flags of the words that are not in the set. */
const unknownFlags = (words: readonly string[], flags: ReadonlySet<string>): readonly string[] =>
  words
    .filter(word => /^-{1,2}[a-zA-Z]/.test(word))
    .map(word => word.split('=')[0] ?? '')
    .filter(flag => !flags.has(flag))

/** Folders of other places: a clone of kcp, and an installed package. */
const isElsewhere = (path: string): boolean => /^(kcp\/staging|node_modules)\//.test(path)

const folders = readdirSync(root, { withFileTypes: true }).flatMap(entry =>
  entry.isDirectory() ? [entry.name] : [],
)

/** Compiled files are there after a build, as their sources. */
function missingFile(word: string): readonly string[] {
  const path = word.replace(/^dist\/(.*)\.js$/, '$1.ts')
  const isFile = folders.includes(path.split('/')[0] ?? '') && /^[\w-]+\/[\w./-]+$/.test(path)
  return isFile && !isElsewhere(path) && !existsSync(join(root, path)) ? [`there is no file ${word}`] : []
}
