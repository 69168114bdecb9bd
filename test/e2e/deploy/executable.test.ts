import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readdir, rename, stat, symlink, writeFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import type { KubeObject } from '../../../framework/index.ts'
import { clientOf } from '../../support/client.ts'
import { notRun } from '../../support/notrun.ts'
import {
  discard,
  eventually,
  kubectlFor,
  type Oriel,
  readText,
  run,
  startOriel,
} from '../../support/oriel.ts'
import { etcdProgram, noEtcd, startEtcd } from '../../support/servers/etcd.ts'
import { root } from '../../support/source.ts'
import { temporaryDirectory } from '../../support/temporary.ts'
import { configAt, userAt } from '../../support/watcher.ts'

/** A view in a process of its own, which is the same program. */
const view = `
export default ({ allow, apiSetOf, defineVirtualWorkspace, loopback }) =>
  defineVirtualWorkspace('alone', '/services/alone', ({ backend }) => ({
    apis: () => apiSetOf([backend.apis('*').find('', 'v1', 'configmaps')]),
    authorize: async () => allow('for the test'),
    actAs: () => loopback,
    http: (context, request, response) => void response.end(JSON.stringify([process.pid, process.env.NODE_OPTIONS])),
  }))
`

/** Longer than what is parsed at once, so that the thread parses it. */
const longYaml = `apiVersion: v1
kind: ConfigMap
metadata: {name: long}
data:
${Array.from({ length: 1_000 }, (_, i) => `  key${i}: value ${i}\n`).join('')}`

describe('the single executable file', function () {
  this.timeout(240_000)
  let folder: string
  let program: string
  /** A directory with kubectl-oriel. */
  let bin: string
  let env: Readonly<Record<string, string>>
  let oriel: Oriel
  before(async () => {
    folder = await temporaryDirectory('executable')
    // Nothing of this repository is beside it.
    program = join(folder, 'oriel')
    env = { XDG_CACHE_HOME: join(folder, 'cache'), HOME: folder }
    const { code, stderr } = await run(process.execPath, ['scripts/executable.mjs', join(folder, 'built')])
    assert.equal(code, 0, stderr)
    await rename(join(folder, 'built'), program)
    bin = join(folder, 'bin')
    await mkdir(bin)
    await symlink(program, join(bin, 'kubectl-oriel'))
    await writeFile(join(folder, 'alone.mjs'), view)
    await writeFile(join(folder, 'views.yaml'), 'views:\n- view: ./alone.mjs\n  isolate: true\n')
    await writeFile(join(folder, 'tokens.csv'), 'boss-token,boss,1,"system:masters"\n')
    const flags = ['--views', join(folder, 'views.yaml'), '--token-auth-file', join(folder, 'tokens.csv')]
    flags.push('--store', join(folder, 'store'))
    oriel = await startOriel({ executable: program, args: flags, cwd: folder, env })
  })
  after(() => discard(oriel))

  const asPlugin = () => ({
    ...env,
    PATH: `${bin}${delimiter}${process.env.PATH}`,
    KUBECONFIG: oriel.kubeconfig,
  })

  it('serves logical clusters, YAML of any length and the console', async () => {
    const kubectl = kubectlFor(oriel, 'root')
    await kubectl(['create', '-f', '-'], longYaml)
    assert.match(await kubectl(['get', 'configmap', 'long', '-o', 'jsonpath={.data.key999}']), /^value 999$/)
    const client = await clientOf(userAt(oriel, oriel.url, 'boss-token'))
    const sent = { method: 'POST', headers: { 'content-type': 'application/yaml' } }
    const maps = '/clusters/root/api/v1/namespaces/default/configmaps'
    const posted = await client(maps, { ...sent, body: longYaml.replace('long', 'longer') })
    assert.equal(posted.status, 201, posted.text)
    const page = await client('/console')
    assert.match(page.text, /<script type="module" src="\/console\/main\.js"/)
    assert.equal((await client('/console/main.js')).status, 200)
    client.close()
  })

  it('runs views in processes of their own', async () => {
    const client = await clientOf(userAt(oriel, oriel.url, 'boss-token'))
    const { text, json } = await client('/services/alone/clusters/root/told')
    const [pid, options] = json<readonly [number, string] & KubeObject>()
    assert.match(options, /--max-old-space-size=\d+/, text)
    assert.doesNotThrow(() => process.kill(pid, 0))
    client.close()
  })

  it('is kubectl oriel by its name', async () => {
    const path = asPlugin()
    for (const [command, printed] of [
      ['views', /apiexport/],
      ['tree', /root/],
      ['doctor', /OK|ok/],
      ['explain --help', /^Usage: kubectl oriel explain/],
    ] as const) {
      const { code, stdout, stderr } = await run('kubectl', ['oriel', ...command.split(' ')], { env: path })
      assert.equal(code, 0, `${command}: ${stdout}${stderr}`)
      assert.match(stdout, printed)
    }
    const refused = await run('kubectl', ['oriel', 'trees'], { env: path })
    assert.match(refused.stderr, /error: unknown command 'trees'/)
  })

  it('watches objects as kubectl oriel watch', async () => {
    const args = ['watch', '/clusters/root/api/v1/configmaps']
    const child = spawn(join(bin, 'kubectl-oriel'), args, { env: { ...process.env, ...asPlugin() } })
    let printed = ''
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => {
        printed += text
      })
    const ended = once(child, 'close')
    const until = (name: string) =>
      eventually(
        async () => printed,
        text => text.includes(name) || child.exitCode !== null,
      )
    await until('kube-root-ca.crt')
    await kubectlFor(oriel, 'root')(['create', 'configmap', 'followed'])
    assert.match(await until('followed'), /followed/)
    child.kill('SIGINT')
    await ended
  })

  it('backs up the running server as kubectl oriel backup, and restores it', async () => {
    const [output, restored] = [join(folder, 'backup.tar.gz'), join(folder, 'restored')]
    const from = ['--data-directory', oriel.directory, '--store', join(folder, 'store')]
    const backup = ['oriel', 'backup', ...from, '--output', output]
    const made = await run('kubectl', backup, { env: asPlugin() })
    assert.equal(made.code, 0, made.stderr)
    assert.match(made.stderr, /^Backed up resourceVersion \d+, \d+ files/m)
    const restore = ['oriel', 'restore', '--data-directory', restored, '--input', output]
    const back = await run('kubectl', restore, { env: asPlugin() })
    assert.equal(back.code, 0, back.stderr)
    assert.equal(await readText(join(restored, 'ca.crt')), await readText(join(oriel.directory, 'ca.crt')))
  })

  it('has the version, and unpacks its files once into a private directory', async () => {
    const { version } = JSON.parse((await run('cat', ['package.json'], { cwd: root })).stdout)
    assert.equal((await run(program, ['--version'], { env })).stdout, `${version}\n`)
    const own = join(folder, 'cache/oriel')
    const [unpacked = '', ...others] = await readdir(own)
    assert.deepEqual(others, [])
    assert.equal((await stat(join(own, unpacked))).mode & 0o777, 0o700)
  })

  it('does not run code that was put into the directory', async () => {
    const cache = join(folder, 'damaged')
    const version = () => run(program, ['--version'], { env: { ...env, XDG_CACHE_HOME: cache } })
    const { stdout } = await version()
    const [unpacked = ''] = await readdir(join(cache, 'oriel'))
    const main = join(cache, 'oriel', unpacked, 'dist/bundle/oriel.cjs')
    const text = await readText(main)
    const planted = "require('fs').writeSync(1, 'planted');process.exit();//"
    await writeFile(main, planted + text.slice(planted.length))
    assert.deepEqual(await version(), { code: 0, stdout, stderr: '' })
    assert.equal(await readText(main), text)
  })

  if (etcdProgram() === undefined) notRun('replicas of the single executable file', noEtcd)
  else
    it('serves one port with several processes', async () => {
      const etcd = await startEtcd()
      const args = ['--replicas', '2', '--store', `etcd://${etcd.endpoint}`]
      const crew = await startOriel({ executable: program, args, env })
      const client = await clientOf(configAt(crew, crew.url))
      await eventually(
        () => client('/clusters/root/api/v1/namespaces/default'),
        ({ status }) => status === 200,
      )
      client.close()
      await discard(crew)
      await etcd.stop()
    })
})
