import assert from 'node:assert/strict'
import { join } from 'node:path'
import { type Block, blocksOf } from '../../support/markdown.ts'
import { discard, type Oriel, readText, run, startOriel } from '../../support/oriel.ts'
import { installPacked } from '../../support/packed.ts'
import { root } from '../../support/source.ts'

const isServer = ({ text }: Block): boolean => text.startsWith('npx oriel start ')
const isInstall = (line: string): boolean => /^npm install\b/.test(line)

/** The commands of a block. The package is installed already. */
const commandsOf = ({ text }: Block): string =>
  text
    .split('\n')
    .filter(line => !isInstall(line))
    .join('\n')

/** A shell that runs blocks one after the other, in one directory and with the variables of earlier blocks. */
class Terminal {
  readonly #cwd: string
  readonly #env: Readonly<Record<string, string>>
  #before = ''

  constructor(cwd: string, env: Readonly<Record<string, string>> = {}) {
    this.#cwd = cwd
    this.#env = env
  }

  /** The output of the commands. */
  async run(commands: string): Promise<string> {
    const script = `${this.#before}\n${commands}`
    const { code, stdout, stderr } = await run('sh', ['-euc', script], { cwd: this.#cwd, env: this.#env })
    assert.equal(code, 0, `${script}\n${stdout}${stderr}`)
    this.#before += commands
      .split('\n')
      .filter(line => /^(export )?[A-Z]+=/.test(line))
      .map(line => `${line}\n`)
      .join('')
    return stdout
  }
}

describe('the tutorial', function () {
  this.timeout(600_000)
  let blocks: readonly Block[]
  let oriel: Oriel | undefined
  before(async () => {
    blocks = blocksOf(await readText(join(root, 'docs/tutorial.md')))
  })
  after(() => oriel && discard(oriel))

  it('works with the packed package, command by command', async () => {
    const { folder } = await installPacked()
    const team = join(folder, 'team')
    let terminal = new Terminal(folder)
    for (const [i, block] of blocks.entries()) {
      if (block.language === 'text') continue
      if (isServer(block)) {
        oriel = await serverOf(block, team)
        terminal = new Terminal(team, { KUBECACHEDIR: join(folder, 'kubectl-cache') })
        continue
      }
      const commands = commandsOf(block).replaceAll('https://localhost:6443', oriel?.url ?? '')
      // The first block ends in the directory of the view.
      const printed = await terminal.run(i === 1 ? `cd team\n${commands}` : commands)
      const shown = blocks[i + 1]
      if (shown?.language === 'text') assert.ok(printed.endsWith(shown.text), printed)
    }
    assert.match(oriel?.output() ?? '', /^Reloaded \.\/team\.ts in \d+ ms$/m)
  })
})

/** The server of the tutorial, at a free port. */
function serverOf({ text }: Block, cwd: string): Promise<Oriel> {
  const args = text.trim().split(' ').slice(3)
  const program = join(cwd, '../node_modules/oriel/dist/bundle/oriel.cjs')
  return startOriel({ cwd, program, args, directory: join(cwd, '.oriel') })
}
