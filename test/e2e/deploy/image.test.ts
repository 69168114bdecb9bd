import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chown, copyFile, cp, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { notRun } from '../../support/notrun.ts'
import { endOf, kubectlFor, type Outcome, readText, run } from '../../support/oriel.ts'
import { root } from '../../support/source.ts'

/** The instructions of the last stage, and the commands of the first. */
interface Containerfile {
  readonly runs: readonly string[]
  readonly copies: readonly { readonly from: string; readonly to: string; readonly owner: number }[]
  readonly user: string
  readonly entrypoint: readonly string[]
  readonly command: readonly string[]
}

function parse(text: string): Containerfile {
  const [, build = '', final = ''] = text.split(/^FROM .*$/m)
  const valuesOf = (stage: string, name: string) =>
    [...stage.matchAll(new RegExp(`^${name} (.*)$`, 'gm'))].map(([, value = '']) => value)
  const listOf = (name: string): readonly string[] => JSON.parse(valuesOf(final, name)[0] ?? '[]')
  const copies = valuesOf(final, 'COPY').map(value => {
    const [, owner = '0', from = '', to = ''] =
      /^--from=build (?:--chown=(\d+):\d+ )?(\S+) (\S+)$/.exec(value) ?? assert.fail(value)
    return { from, to, owner: Number(owner) }
  })
  return {
    runs: valuesOf(build, 'RUN'),
    copies,
    user: valuesOf(final, 'USER')[0] ?? '',
    entrypoint: listOf('ENTRYPOINT'),
    command: listOf('CMD'),
  }
}

const isLinuxRoot = process.platform === 'linux' && process.getuid?.() === 0
const hasUnshare = (process.env.PATH ?? '').split(delimiter).some(each => existsSync(join(each, 'unshare')))

/** Copies Node and its libraries, which the base image has, to where the base image has them. */
async function installNode(image: string): Promise<void> {
  const { stdout } = await run('ldd', [process.execPath])
  const libraries = [...stdout.matchAll(/(\/\S+)/g)].map(([, path = '']) => path)
  for (const [from, to] of [[process.execPath, '/nodejs/bin/node'], ...libraries.map(each => [each, each])]) {
    await mkdir(dirname(join(image, to ?? '')), { recursive: true })
    await copyFile(from ?? '', join(image, to ?? ''))
  }
}

describe('the image', function () {
  this.timeout(120_000)
  let folder: string
  let image: string
  let file: Containerfile
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'oriel-image-'))
    image = join(folder, 'root')
    file = parse(await readText(join(root, 'deploy/Containerfile')))
  })
  after(() => rm(folder, { recursive: true }))

  /** Runs the steps of the Containerfile after `npm run build`, in an empty folder. */
  async function build(): Promise<void> {
    const steps = file.runs.filter(each => !each.startsWith('npm '))
    assert.ok(steps.length > 0)
    const script = steps.join('\n').replaceAll('/image/', `${folder}/image/`)
    const { code, stderr } = await run('sh', ['-euc', script])
    assert.equal(code, 0, stderr)
    for (const { from, to, owner } of file.copies) {
      await cp(from.replace(/^\/image\//, `${folder}/image/`), join(image, to), { recursive: true })
      if (owner !== 0) await chown(join(image, to), owner, owner)
    }
  }

  it('has the environment of the unit of systemd', async () => {
    const unit = await readText(join(root, 'deploy/oriel.service'))
    const [, inUnit] = /^Environment=(.*)$/m.exec(unit) ?? []
    const [, inImage] = /^ENV (.*)$/m.exec(await readText(join(root, 'deploy/Containerfile'))) ?? []
    assert.match(inUnit ?? '', /^MALLOC_MMAP_THRESHOLD_=\d+$/)
    assert.equal(inImage, inUnit)
  })

  it('is run by a user with a number that is not root', () => {
    const [, uid = '0'] = /^(\d+):\d+$/.exec(file.user) ?? []
    assert.notEqual(Number(uid), 0)
    assert.equal(file.copies.find(({ to }) => to === '/data')?.owner, Number(uid))
  })

  if (!isLinuxRoot || !hasUnshare)
    return notRun('runs in an empty root', 'it needs Linux, root and unshare, which a container has')

  /** A process in the image as a container runtime starts it: read-only, except for the volume, as the user of the image. */
  const command = (volume: boolean, program: readonly string[]): readonly string[] => {
    const mounts = [
      `mount --bind "${image}" "${image}"`,
      `mount -o remount,ro,bind "${image}"`,
      ...(volume ? [`mount --bind "${folder}/volume" "${image}/data"`] : []),
    ]
    return ['--mount', 'sh', '-euc', [...mounts, 'exec "$@"'].join('\n'), 'sh', ...inRoot(program)]
  }
  const inRoot = (program: readonly string[]): readonly string[] => [
    'chroot',
    `--userspec=${file.user}`,
    image,
    ...program,
  ]
  const runInImage = (volume: boolean, program: readonly string[]): Promise<Outcome> =>
    run('unshare', command(volume, program), { env: { NODE_EXTRA_CA_CERTS: '' } })

  describe('in an empty root that is read-only', () => {
    before(async () => {
      await build()
      await installNode(image)
      const uid = Number(file.user.split(':')[0])
      await mkdir(join(folder, 'volume'), { mode: 0o700 })
      await chown(join(folder, 'volume'), uid, uid)
    })

    it('serves kubectl, and keeps all that it writes in the volume', async () => {
      const program = [...file.entrypoint, ...file.command, '--port', '0']
      const child: ChildProcess = spawn('unshare', command(true, program), {
        env: { PATH: process.env.PATH },
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      try {
        const [banner] = (await new Promise((resolve, reject) => {
          child.stdout?.once('data', chunk => resolve([String(chunk)]))
          child.once('exit', code => reject(new Error(`ended with ${code}`)))
        })) as readonly [string]
        const [url = ''] = /https:\/\/[^\s/]+:\d+/.exec(banner) ?? []
        const directory = join(folder, 'volume')
        const server = { url, directory: folder, kubeconfig: join(directory, 'admin.kubeconfig') }
        const kubectl = kubectlFor(server, 'root')
        await kubectl(['create', 'configmap', 'greeting', '--from-literal=text=hello'])
        assert.equal(await kubectl(['get', 'cm', 'greeting', '-o', 'jsonpath={.data.text}']), 'hello')
        assert.ok(existsSync(join(directory, 'store')))
      } finally {
        assert.equal(await endOf(child, 'SIGTERM'), 0)
      }
    })

    it('reports in one sentence that it has no volume', async () => {
      const { code, stderr } = await runInImage(false, [...file.entrypoint, ...file.command])
      assert.equal(code, 1)
      assert.match(
        stderr,
        /^oriel: \/data cannot be written \(EROFS\): choose another one with --data-directory.*\n$/,
      )
    })

    it("starts the views by the command of kcp's image", async () => {
      const { code, stdout } = await runInImage(false, ['/virtual-workspaces', '--help'])
      assert.equal(code, 0)
      assert.match(stdout, /^Usage: oriel virtual-workspaces /)
    })

    it('has no file that the program does not use', async () => {
      const { dependencies } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'))
      assert.ok('koa' in dependencies)
      assert.ok(!existsSync(join(image, 'oriel/node_modules/koa')))
      assert.ok(!existsSync(join(image, 'oriel/dist/test')))
    })
  })
})
