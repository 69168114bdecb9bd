import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect } from 'node:tls'
import { issueAuthority, issueServing } from '../../../cmd/certificates/certificates.ts'
import {
  compiled,
  discard,
  eventually,
  kubectlFor,
  type Oriel,
  run,
  startOriel,
} from '../../support/oriel.ts'

/** The serial number of the certificate that a server presents. */
const servedBy = (url: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const { hostname: host, port } = new URL(url)
    const socket = connect({ host, port: Number(port), rejectUnauthorized: false }, () => {
      resolve(socket.getPeerX509Certificate()?.serialNumber ?? '')
      socket.destroy()
    }).on('error', reject)
  })

const serialOf = (pem: string): string => new X509Certificate(pem).serialNumber

describe('oriel start with the certificate of a Secret', () => {
  let folder: string
  let oriel: Oriel
  const authority = issueAuthority()
  const flag = (name: string, file: string) => [`--${name}`, join(folder, 'mount', file)]
  const flags = () => [
    ...flag('tls-cert-file', 'tls.crt'),
    ...flag('tls-private-key-file', 'tls.key'),
    ...flag('root-ca-file', 'ca.crt'),
  ]

  /** Replaces all files at once, as kubelet does: `..data` is a link to a directory. */
  async function mount(name: string): Promise<string> {
    const { certificate, key } = issueServing(authority, ['localhost', '127.0.0.1'])
    await mkdir(join(folder, 'mount', name), { recursive: true })
    const files = { 'tls.crt': certificate, 'tls.key': key, 'ca.crt': authority.certificate }
    for (const [file, text] of Object.entries(files)) await writeFile(join(folder, 'mount', name, file), text)
    await symlink(name, join(folder, 'mount/..new'))
    await rename(join(folder, 'mount/..new'), join(folder, 'mount/..data'))
    return serialOf(certificate)
  }

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'oriel-secret-'))
    await mkdir(join(folder, 'mount'))
    for (const file of ['tls.crt', 'tls.key', 'ca.crt'])
      await symlink(`..data/${file}`, join(folder, 'mount', file))
  })
  after(async () => {
    if (oriel !== undefined) await discard(oriel)
    await rm(folder, { recursive: true })
  })

  it('serves it, tells its authorities to clients, and reloads it when the Secret changes', async () => {
    const first = await mount('..one')
    oriel = await startOriel({ args: flags() })
    assert.equal(await servedBy(oriel.url), first)
    const roots = ['get', 'configmap', 'kube-root-ca.crt', '-o', 'jsonpath={.data.ca\\.crt}']
    const published = await eventually(
      () => kubectlFor(oriel, 'root').try(roots),
      ({ code }) => code === 0,
    )
    assert.equal(published.stdout.trim(), authority.certificate.trim())
    const second = await mount('..two')
    await eventually(
      () => servedBy(oriel.url),
      serial => serial === second,
    )
  })

  it('reports a missing or invalid file in one sentence', async () => {
    const start = (...args: readonly string[]) =>
      run(process.execPath, [compiled, 'start', '--data-directory', join(folder, 'data'), ...args])
    assert.deepEqual(await start(...flag('tls-cert-file', 'tls.crt')), {
      code: 1,
      stdout: '',
      stderr:
        'oriel: --tls-cert-file and --tls-private-key-file must be specified together: add the missing one.\n',
    })
    const alone = await start(...flag('root-ca-file', 'ca.crt'))
    assert.equal(
      alone.stderr,
      'oriel: --root-ca-file has no effect without --tls-cert-file: add --tls-cert-file, or remove --root-ca-file.\n',
    )
    const wrong = await start(...flag('tls-cert-file', 'tls.key'), ...flag('tls-private-key-file', 'tls.key'))
    assert.match(
      wrong.stderr,
      /^oriel: .*tls\.key contains no valid certificate: give --tls-cert-file a PEM file\.\n$/,
    )
    const rootless = await start(
      ...flag('tls-cert-file', 'tls.crt'),
      ...flag('tls-private-key-file', 'tls.key'),
      ...flag('root-ca-file', 'tls.key'),
    )
    assert.match(
      rootless.stderr,
      /^oriel: .*tls\.key contains no valid certificate: give --root-ca-file a PEM file\.\n$/,
    )
    const gone = await start(...flag('tls-cert-file', 'no.crt'), ...flag('tls-private-key-file', 'tls.key'))
    assert.match(gone.stderr, /^oriel: .*no\.crt.*--tls-cert-file.*\n$/)
    assert.equal(gone.code, 1)
  })
})
