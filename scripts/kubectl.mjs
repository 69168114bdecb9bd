// The sources from which kubectl can be had: Kubernetes' download site, the public Go module, Debian's package.
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmod, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const execute = promisify(execFile)

/** The version that is downloaded or built. */
const version = 'v1.34.1'
/** Older ones lack what the tests and the README use: `kubectl wait --for=jsonpath`, `kubectl events`. */
const oldest = 26

const downloads = process.env.KUBECTL_DOWNLOADS ?? 'https://dl.k8s.io/release'
const platforms = { linux: 'linux', darwin: 'darwin' }
const architectures = { x64: 'amd64', arm64: 'arm64' }

/** Milliseconds after which the download site counts as unreachable, and a download as stalled. */
const patience = { first: 15_000, whole: 300_000 }

async function read(url, milliseconds) {
  const answer = await fetch(url, { signal: AbortSignal.timeout(milliseconds) })
  if (!answer.ok) throw new Error(`${url} responded with ${answer.status}`)
  return Buffer.from(await answer.arrayBuffer())
}

/** Kubernetes publishes the SHA-256 of each file beside it. */
async function downloaded(folder) {
  const [os, cpu] = [platforms[process.platform], architectures[process.arch]]
  if (os === undefined || cpu === undefined)
    throw new Error(`no build for ${process.platform} ${process.arch}`)
  const url = `${downloads}/${version}/bin/${os}/${cpu}/kubectl`
  const wanted = (await read(`${url}.sha256`, patience.first)).toString().trim()
  const bytes = await read(url, patience.whole)
  if (createHash('sha256').update(bytes).digest('hex') !== wanted)
    throw new Error(`${url} has another checksum`)
  await writeFile(join(folder, 'kubectl'), bytes)
}

const main = `package main

import (
	"os"

	"k8s.io/component-base/cli"
	"k8s.io/kubectl/pkg/cmd"
)

func main() { os.Exit(cli.Run(cmd.NewDefaultKubectlCommand())) }
`

async function built(folder) {
  const go = (...args) => execute('go', args, { cwd: folder, env: { ...process.env, CGO_ENABLED: '0' } })
  const module = version.replace('v1', 'v0')
  await writeFile(join(folder, 'main.go'), main)
  await go('mod', 'init', 'kubectl')
  await go('get', `k8s.io/kubectl@${module}`, `k8s.io/component-base@${module}`)
  await go('mod', 'tidy')
  await go(
    'build',
    '-ldflags',
    `-s -w -X k8s.io/component-base/version.gitVersion=${version}`,
    '-o',
    'kubectl',
    '.',
  )
}

/** The package is unpacked, not installed, which needs no rights. */
async function unpacked(folder) {
  await execute('apt-get', ['update', '-qq']).catch(() => undefined)
  await execute('apt-get', ['download', '-qq', 'kubernetes-client'], { cwd: folder })
  const packages = await readdir(folder)
  await execute('dpkg', ['-x', packages.find(name => name.endsWith('.deb')), 'package'], { cwd: folder })
  await rename(join(folder, 'package/usr/bin/kubectl'), join(folder, 'kubectl'))
}

const sources = [
  { name: "Kubernetes' download site", bring: downloaded },
  { name: 'its Go module', bring: built },
  { name: "Debian's package kubernetes-client", bring: unpacked },
]

async function checked(path) {
  await chmod(path, 0o755)
  const { stdout } = await execute(path, ['version', '--client', '--output', 'json'])
  const { gitVersion } = JSON.parse(stdout).clientVersion
  const [, minor = 0] = /^v1\.(\d+)/.exec(gitVersion) ?? []
  if (Number(minor) < oldest) throw new Error(`version ${gitVersion} is older than v1.${oldest}`)
}

async function bringFrom(source, target) {
  const folder = await mkdtemp(join(tmpdir(), 'oriel-kubectl-'))
  try {
    await source.bring(folder)
    await checked(join(folder, 'kubectl'))
    await writeFile(`${target}.new`, await readFile(join(folder, 'kubectl')), { mode: 0o755 })
    await rename(`${target}.new`, target)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** The first line of what went wrong; a missing program in words. */
function reasonOf({ code, path, stderr, cause, message }) {
  if (code === 'ENOENT' && path !== undefined) return `${path} is not installed`
  const text = stderr?.trim() || cause?.message || message
  return text.split('\n')[0].slice(0, 200)
}

/** Writes kubectl to `target` and returns the name of the source; throws when no source has it. */
export async function bringKubectl(target) {
  const reasons = []
  for (const source of sources) {
    try {
      await bringFrom(source, target)
      return source.name
    } catch (error) {
      reasons.push(`${source.name}: ${reasonOf(error)}`)
    }
  }
  throw new Error(
    `kubectl was not found (${reasons.join('; ')}). Install it: https://kubernetes.io/docs/tasks/tools/.`,
  )
}
