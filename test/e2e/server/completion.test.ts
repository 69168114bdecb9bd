import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { notRun } from '../../support/notrun.ts'
import { compiled, run } from '../../support/oriel.ts'

/** What is typed, and some of the offered words, and words that are not offered. */
const cases = [
  ['oriel ', ['start', 'doctor', 'completion', 'store'], ['check', 'ada']],
  ['oriel st', ['start', 'store'], ['doctor']],
  ['oriel store ', ['check'], ['start']],
  ['oriel user add --g', ['--group'], ['--port']],
  ['oriel start --log-level ', ['debug', 'silent'], ['--port']],
  ['oriel start --port 1 --tls-c', ['--tls-cert-file'], ['--port']],
  ['oriel completion ', ['bash', 'zsh', 'fish'], ['start']],
] as const

const isThere = (program: string) =>
  (process.env.PATH ?? '').split(delimiter).some(each => existsSync(join(each, program)))

/** Scripts that print the completions of the line `$1` with the functions of the file `$2`. */
const asking: Readonly<Record<string, string>> = {
  bash: `
    source "$2"
    read -ra COMP_WORDS <<<"$1"
    [[ "$1" == *' ' ]] && COMP_WORDS+=('')
    COMP_CWORD=$(( \${#COMP_WORDS[@]} - 1 ))
    _oriel
    printf '%s\\n' "\${COMPREPLY[@]}"`,
  zsh: `
    autoload -Uz compinit && compinit -u -D
    source "$2"
    COMP_WORDS=(\${=1})
    [[ "$1" == *' ' ]] && COMP_WORDS+=('')
    COMP_CWORD=$(( $#COMP_WORDS - 1 ))
    emulate ksh -c _oriel
    print -l -- "\${COMPREPLY[@]}"`,
  fish: `
    source $argv[2]
    complete -C $argv[1]`,
}

const commandOf = (shell: string, script: string, args: readonly string[]): readonly string[] =>
  shell === 'fish' ? ['--no-config', '-c', script, ...args] : ['-c', script, shell, ...args]

describe('completion', function () {
  this.timeout(60_000)
  let folder: string
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'oriel-completion-'))
  })
  after(() => rm(folder, { recursive: true }))

  for (const [shell, script] of Object.entries(asking)) {
    if (!isThere(shell)) {
      notRun(`completes in ${shell}`, `there is no ${shell}; apt-get install ${shell}`)
      continue
    }
    it(`completes commands, flags and values in ${shell}`, async () => {
      const file = join(folder, shell)
      const printed = await run(process.execPath, [compiled, 'completion', shell])
      assert.equal(printed.code, 0, printed.stderr)
      await writeFile(file, printed.stdout)
      for (const [typed, offered, others] of cases) {
        const { stdout, stderr } = await run(shell, commandOf(shell, script, [typed, file]))
        // zsh filters by the typed prefix after the function has returned.
        const prefix = typed.slice(typed.lastIndexOf(' ') + 1)
        const lines = stdout.split('\n').map(line => line.split('\t')[0] ?? '')
        const words = lines.filter(word => word.startsWith(prefix))
        const missing = offered.filter(word => !words.includes(word))
        assert.deepEqual(missing, [], `${typed}: ${stdout}${stderr}`)
        assert.deepEqual(
          others.filter(word => words.includes(word)),
          [],
          typed,
        )
      }
    })
  }

  it('refuses an unknown shell, and names the known ones', async () => {
    const { code, stderr } = await run(process.execPath, [compiled, 'completion', 'tcsh'])
    assert.equal(code, 1)
    assert.match(stderr, /argument value 'tcsh' is invalid.*Allowed choices are bash, zsh, fish/)
  })
})

describe('oriel as a plugin of kubectl', () => {
  it('is what kubectl runs for kubectl oriel', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'oriel-plugin-'))
    try {
      await symlink(compiled, join(folder, 'kubectl-oriel'))
      const env = { PATH: `${folder}${delimiter}${process.env.PATH}` }
      const help = await run('kubectl', ['oriel', 'tree', '--help'], { env })
      assert.equal(help.code, 0, help.stderr)
      assert.match(help.stdout, /^Usage: kubectl oriel tree \[options\]/)
      const unknown = await run('kubectl', ['oriel', 'trees'], { env })
      assert.match(unknown.stderr, /error: unknown command 'trees'/)
      assert.equal(unknown.code, 1)
    } finally {
      await rm(folder, { recursive: true })
    }
  })
})

describe('a closed pipe', () => {
  it('ends the tools quietly', async () => {
    for (const args of ['completion bash', 'start --help', 'help'])
      for (const reader of ['true', 'head -n 1']) {
        const command = `"${process.execPath}" "${compiled}" ${args} | ${reader} >/dev/null`
        const { stderr } = await run('sh', ['-c', command])
        assert.equal(stderr, '', command)
      }
  }).timeout(60_000)
})
