import assert from 'node:assert/strict'
import { readTexts } from '../support/source.ts'
import { problemsOf } from './commands.ts'
import { allBlocks, type PageBlock, pages, spansOf } from './pages.ts'
import { flagsOfOthers, type Program, readProgram } from './programs.ts'
import { commandsOf } from './shell.ts'

const isScript = (language: string): boolean => language === 'bash' || language === 'sh'

/** `robot() { kubectl --token "$TOKEN" "$@"; }` of earlier blocks. */
const functionsIn = (blocks: readonly PageBlock[]): string =>
  blocks.flatMap(({ text }) => text.match(/^\w+\(\) \{.*\}\n/gm) ?? []).join('')

/** The command of a span such as `oriel store check`; undefined for other texts. */
const commandIn = (span: string): string | undefined =>
  /^([A-Z_]+=\S+ )*(oriel|npm|npx|kubectl oriel|node [\w/]|helm|docker)\b(?!\/)/.test(span) &&
  span.includes(' ')
    ? span.replaceAll(/<[^>]*>|\[[^\]]*\]|…|\w+(\|\w+)+/g, '$x')
    : undefined

describe('the commands of the pages', function () {
  this.timeout(120_000)
  let program: Program
  let sources: string
  before(async () => {
    program = await readProgram()
    sources = readTexts(['.ts', '.mjs', '.cjs', '.json', '.sh', '.go'])
      .map(({ text }) => text)
      .join('\n')
  })

  it('are found, with all flags of the program', () => {
    assert.ok(program.size > 20)
    assert.ok(program.get('start')?.has('--data-directory') && program.get('user add')?.has('--group'))
    assert.ok(allBlocks().filter(({ language }) => isScript(language)).length > 70)
  })

  it('exist in scripts, with their flags, files and variables', () => {
    const scripts = allBlocks().filter(({ language }) => isScript(language))
    const problems = scripts.flatMap(({ page, line, text }) =>
      commandsOf(functionsIn(scripts.filter(each => each.page === page && each.line < line)) + text)
        .flatMap(command => problemsOf(command, program, sources))
        .map(problem => `${page}:${line}: ${problem}`),
    )
    assert.deepEqual(problems, [])
  })

  it('exist in sentences, with their flags, files and variables', () => {
    const problems = pages().flatMap(page =>
      spansOf(page)
        .flatMap(span => commandIn(span) ?? [])
        .flatMap(text => commandsOf(text).flatMap(command => problemsOf(command, program, sources)))
        .map(problem => `${page.path}: ${problem}`),
    )
    assert.deepEqual(problems, [])
  })

  it('have flags that some program has, wherever they are named', () => {
    const known = new Set([...program.values()].flatMap(flags => [...flags]))
    for (const flag of Object.values(flagsOfOthers).flat()) known.add(flag)
    const isKnown = (flag: string): boolean =>
      flag.endsWith('-') ? [...known].some(each => each.startsWith(flag)) : known.has(flag)
    const unknown = pages().flatMap(({ path, text }) =>
      [...text.matchAll(/(?<![\w-])--[a-z][\w-]*/g)]
        .filter(([flag]) => !isKnown(flag))
        .map(([flag]) => `${path}: ${flag}`),
    )
    assert.deepEqual(unknown, [])
  })

  it('are refused when they do not exist', () => {
    for (const [text, problem] of [
      ['oriel strat', 'oriel has no command strat'],
      ['oriel user ad ada', 'oriel user has no command ad'],
      ['oriel start --stroe memory:', 'oriel start has no flag --stroe'],
      ['oriel explain get pods -q', 'oriel explain has no flag -q'],
      ['kubectl oriel tree --port 1', 'oriel tree has no flag --port'],
      ['npm start -- --prot 7443', 'oriel start has no flag --prot'],
      ['npm run banch', 'package.json has no script banch'],
      ['npm run bench -- trasing', 'there is no bench trasing'],
      ['kubectl apply -f examples/none.yaml', 'there is no file examples/none.yaml'],
      ['node dist/cmd/mian.js', 'there is no file dist/cmd/mian.js'],
      ['NOT_READ=1 npm test', 'nothing reads NOT_READ'],
      ['helm install x --no-such', 'helm has no flag --no-such in flagsOfOthers'],
      ['unheard of', 'unknown program unheard'],
    ] as const) {
      const problems = commandsOf(text).flatMap(command =>
        problemsOf(command, program, sources.replaceAll('NOT_READ', '')),
      )
      assert.deepEqual(problems, [problem], text)
    }
    assert.throws(() => commandsOf('for x in a; do'), /expected/)
  })
})
