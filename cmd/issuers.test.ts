import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { blocksOf } from '../test/support/markdown.ts'
import { readText } from '../test/support/oriel.ts'
import { root } from '../test/support/source.ts'
import { readIssuers } from './issuers.ts'
import { StartError } from './starterror.ts'

describe('--authentication-config', () => {
  let file: string
  before(async () => {
    file = join(await mkdtemp(join(tmpdir(), 'oriel-issuers-')), 'authentication.yaml')
  })
  after(() => rm(join(file, '..'), { recursive: true }))

  it('takes what docs/authentication.md shows', async () => {
    const [example] = blocksOf(await readText(join(root, 'docs/authentication.md'))).filter(
      ({ language }) => language === 'yaml',
    )
    await writeFile(file, example?.text ?? '')
    const issuers = await readIssuers(file, [])
    assert.deepEqual(
      issuers.map(({ url }) => url),
      ['https://login.example.com'],
    )
  })

  it('says in one sentence what is wrong', async () => {
    const example = { apiVersion: 'apiserver.config.k8s.io/v1', kind: 'AuthenticationConfiguration' }
    const issuer = { url: 'https://a', audiences: ['a'] }
    const username = { expression: 'claims.email' }
    await writeFile(file, JSON.stringify({ ...example, jwt: [{ issuer, claimMappings: { username } }] }))
    await assert.rejects(readIssuers(file, []), error => {
      assert.ok(error instanceof StartError)
      assert.match(error.message, /authentication.yaml cannot be used: .*claims.email_verified must be used/)
      return true
    })
    await assert.rejects(readIssuers(`${file}.none`, []), /cannot be read \(ENOENT\)/)
  })
})
