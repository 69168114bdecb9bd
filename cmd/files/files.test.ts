import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { issueAuthority } from '../certificates/certificates.ts'
import { readFlagPair, readIfThere } from './files.ts'
import { StartError } from './starterror.ts'

describe('a file of a data directory', () => {
  let parent: string
  before(async () => {
    parent = await mkdtemp(join(tmpdir(), 'oriel-files-'))
  })
  after(() => rm(parent, { recursive: true }))

  it('is read if it is there', async () => {
    await writeFile(join(parent, 'sa.key'), 'key')
    assert.equal((await readIfThere(join(parent, 'sa.key')))?.toString(), 'key')
    assert.equal(await readIfThere(join(parent, 'none')), undefined)
  })

  it('is named with what to change when it cannot be read', async () => {
    const path = join(parent, 'ca.key')
    await mkdir(path)
    await assert.rejects(readIfThere(path), (error: unknown) => {
      assert.ok(error instanceof StartError)
      const what = 'make it a file that the user of this process may read.'
      assert.equal(error.message, `${path} cannot be read (EISDIR): ${what}`)
      return true
    })
  })
})

describe('the files of a certificate and its private key', () => {
  it('are refused when they are no pair, also those for requests to other shards', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'oriel-pair-'))
    const [own, other] = [issueAuthority(), issueAuthority()]
    const cert = { flag: '--shard-client-cert-file', path: join(directory, 'tls.crt') }
    const key = { flag: '--shard-client-key-file', path: join(directory, 'tls.key') }
    await writeFile(cert.path, own.certificate)
    await writeFile(key.path, own.key)
    assert.deepEqual(await readFlagPair(cert, key), [own.certificate, own.key])
    await writeFile(key.path, other.key)
    await assert.rejects(readFlagPair(cert, key), {
      name: 'StartError',
      message: `${cert.path} and ${key.path} are not a key pair: give ${key.flag} the key of the certificate.`,
    })
    await writeFile(cert.path, 'none')
    await assert.rejects(readFlagPair(cert, key), {
      name: 'StartError',
      message: `${cert.path} contains no valid certificate: give ${cert.flag} a PEM file.`,
    })
    await rm(directory, { recursive: true })
  })
})
