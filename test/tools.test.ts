import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { access, cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readText, run } from './support/oriel.ts'
import { root } from './support/source.ts'

/** A program that answers as kubectl of a version does. */
const kubectlOf = (version: string): string =>
  `#!/bin/sh\necho '${JSON.stringify({ clientVersion: { gitVersion: version } })}'\n`

describe('the tools that npm test requires', () => {
  let folder: string
  let site: Server
  let files: ReadonlyMap<string, string>
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'oriel-tools-'))
    await cp(join(root, 'scripts'), join(folder, 'scripts'), { recursive: true })
    await mkdir(join(folder, 'path'))
    files = new Map()
    site = createServer((request, response) => {
      const text = files.get(request.url?.replace(/^.*\//, '') ?? '')
      response.writeHead(text === undefined ? 404 : 200).end(text)
    }).listen(0, '127.0.0.1')
    await new Promise(listening => void site.once('listening', listening))
  })
  afterEach(async () => {
    site.close()
    await rm(folder, { recursive: true })
  })

  const prepare = (...args: readonly string[]) => {
    const downloads = `http://127.0.0.1:${(site.address() as AddressInfo).port}`
    const env = { PATH: join(folder, 'path'), KUBECTL_DOWNLOADS: downloads }
    return run(process.execPath, [join(folder, 'scripts/tools.mjs'), ...args], { env })
  }

  const publish = (text: string, summed = text): void => {
    const sum = createHash('sha256').update(summed).digest('hex')
    files = new Map([
      ['kubectl', text],
      ['kubectl.sha256', `${sum}\n`],
    ])
  }

  const brought = (): string => join(folder, '.tools/kubectl')

  it('are nothing but the kubectl on the PATH', async () => {
    await writeFile(join(folder, 'path/kubectl'), kubectlOf('v1.34.1'), { mode: 0o755 })
    assert.deepEqual(await prepare(), { code: 0, stdout: '', stderr: '' })
    assert.deepEqual(await prepare('--offer'), { code: 0, stdout: '', stderr: '' })
  })

  it("are downloaded from Kubernetes' site, once", async () => {
    publish(kubectlOf('v1.34.1'))
    const { code, stderr } = await prepare()
    assert.equal(code, 0, stderr)
    assert.match(stderr, /^kubectl is not on the PATH: .*\nkubectl is in \.tools\/ now, from .*\.\n$/)
    assert.equal(await readFile(brought(), 'utf8'), kubectlOf('v1.34.1'))
    assert.deepEqual(await prepare(), { code: 0, stdout: '', stderr: '' })
  })

  for (const [what, text, summed, reason] of [
    ['changed on the way', kubectlOf('v1.34.1'), 'another file', /kubectl has another checksum/],
    ['too old', kubectlOf('v1.20.2'), undefined, /version v1\.20\.2 is older than v1\.26/],
  ] as const)
    it(`are not taken when they were ${what}; one line names every source and its problem`, async () => {
      publish(text, summed)
      const { code, stderr } = await prepare()
      assert.equal(code, 1)
      const [, line = '', end] = stderr.split('\n')
      assert.match(line, reason)
      assert.match(
        line,
        /its Go module: go is not installed; .*: apt-get is not installed\)\. Install it: https/,
      )
      assert.equal(end, '')
      await assert.rejects(access(brought()))
    })

  it('are offered by npm start, which goes on without them', async () => {
    const without = await prepare('--offer')
    assert.equal(without.code, 0)
    assert.match(
      without.stderr,
      /not on the PATH\. npm run kubectl && export PATH="\$PWD\/\.tools:\$PATH"\n$/,
    )
    publish(kubectlOf('v1.34.1'))
    await prepare()
    assert.match((await prepare('--offer')).stderr, /\.tools\/ has one: export PATH/)
  })
})

describe('npm run test:kcp', () => {
  it('finds the tests that it names', async () => {
    const { scripts } = JSON.parse(await readText(join(root, 'package.json'))) as {
      readonly scripts: Readonly<Record<string, string>>
    }
    const [, args = ''] = /\bmocha (.*)$/.exec(scripts['test:kcp'] ?? '') ?? []
    const command = `node_modules/.bin/mocha --dry-run ${args}`
    const { code, stdout, stderr } = await run('sh', ['-c', command])
    assert.equal(code, 0, stderr)
    assert.match(stdout, /the lifecycle views in front of a shard/)
    assert.doesNotMatch(stderr, /Cannot find any files/)
  })
})

interface LockFile {
  readonly packages: Readonly<
    Record<
      string,
      { readonly resolved?: string; readonly optionalDependencies?: Readonly<Record<string, string>> }
    >
  >
}

describe('package-lock.json', () => {
  let packages: LockFile['packages']
  before(async () => {
    packages = (JSON.parse(await readText(join(root, 'package-lock.json'))) as LockFile).packages
  })

  it('has the packages of all platforms, without which npm ci fails', () => {
    const optional = Object.values(packages).flatMap(each => Object.keys(each.optionalDependencies ?? {}))
    assert.ok(optional.length > 50)
    assert.deepEqual(
      optional.filter(name => !(`node_modules/${name}` in packages)),
      [],
    )
  })

  it('names no registry', () =>
    assert.deepEqual(
      Object.keys(packages).filter(path => packages[path]?.resolved !== undefined),
      [],
    ))
})
