import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { blocksOf } from '../../test/support/markdown.ts'
import { readText } from '../../test/support/oriel.ts'
import { type Issuer, startIssuer } from '../../test/support/servers/issuer.ts'
import { root } from '../../test/support/source.ts'
import { StartError } from '../files/starterror.ts'
import { admits, type IssuerFlags, readIssuers } from './issuers.ts'

let folder: string
let file: string
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'oriel-issuers-'))
  file = join(folder, 'authentication.yaml')
})
after(() => rm(folder, { recursive: true }))

async function refused(options: IssuerFlags, why: RegExp): Promise<void> {
  await assert.rejects(readIssuers(options, []), error => {
    assert.ok(error instanceof StartError, String(error))
    assert.match(error.message, why)
    return true
  })
}

describe('--authentication-config', () => {
  const example = { apiVersion: 'apiserver.config.k8s.io/v1', kind: 'AuthenticationConfiguration' }

  it('accepts the example of docs/authentication.md', async () => {
    const [shown] = blocksOf(await readText(join(root, 'docs/authentication.md'))).filter(
      ({ language }) => language === 'yaml',
    )
    await writeFile(file, shown?.text ?? '')
    const { issuers, anonymous } = await readIssuers({ authenticationConfig: file }, [])
    assert.deepEqual(
      issuers.map(({ url }) => url),
      ['https://login.example.com'],
    )
    assert.ok(admits(anonymous, '/version'))
    assert.ok(!admits(anonymous, '/api'))
  })

  it('reports in one sentence what to change', async () => {
    const issuer = { url: 'https://a', audiences: ['a'] }
    const username = { expression: 'claims.email' }
    await writeFile(file, JSON.stringify({ ...example, jwt: [{ issuer, claimMappings: { username } }] }))
    const authenticationConfig = file
    await refused({ authenticationConfig }, /in .*authentication.yaml: .*claims.email_verified must be used/)
    await refused({ authenticationConfig: `${file}.none` }, /cannot be read \(ENOENT\)/)
    await refused({ authenticationConfig, oidcClientId: 'a' }, /mutually exclusive/)
    await writeFile(file, JSON.stringify({ ...example, anonymous: { enabled: true } }))
    await refused({ authenticationConfig, anonymousAuth: true }, /remove that field or --anonymous-auth/)
  })

  it('is not needed to deny anonymous requests', async () => {
    for (const anonymousAuth of [true, false]) {
      const { anonymous } = await readIssuers({ anonymousAuth }, [])
      assert.equal(admits(anonymous, '/version'), anonymousAuth)
    }
    assert.ok(admits((await readIssuers({}, [])).anonymous, '/version'))
  })
})

describe('--oidc-* flags', () => {
  let idp: Issuer
  let required: IssuerFlags
  before(async () => {
    idp = await startIssuer()
    await writeFile(join(folder, 'idp.crt'), idp.ca)
    required = { oidcIssuerUrl: idp.url, oidcClientId: 'oriel', oidcCaFile: join(folder, 'idp.crt') }
  })
  after(() => idp.stop())

  const claims = { sub: 'bob', email: 'bob@example.com', teams: ['dev'], tenant: 'blue' }
  async function userBy(options: IssuerFlags, more: object = {}) {
    const { issuers } = await readIssuers({ ...required, ...options }, [])
    const { name, groups } = (await issuers[0]?.userOf(await idp.token({ ...claims, ...more }))) ?? {}
    return [name, ...(groups ?? [])]
  }

  it('map claims to users, as in kube-apiserver', async () => {
    for (const [options, ...user] of [
      [{}, `${idp.url}#bob`],
      [{ oidcUsernamePrefix: '-' }, 'bob'],
      [{ oidcUsernamePrefix: 'oidc:' }, 'oidc:bob'],
      [{ oidcUsernameClaim: 'email' }, 'bob@example.com'],
      [{ oidcUsernameClaim: 'tenant' }, `${idp.url}#blue`],
      [{ oidcGroupsClaim: 'teams' }, `${idp.url}#bob`, 'dev'],
      [{ oidcGroupsClaim: 'teams', oidcGroupsPrefix: 'oidc:' }, `${idp.url}#bob`, 'oidc:dev'],
      [{ oidcRequiredClaim: { tenant: 'blue' } }, `${idp.url}#bob`],
    ] as const)
      assert.deepEqual(await userBy(options), [...user, 'system:authenticated'])
  })

  it('reject other tokens', async () => {
    await assert.rejects(userBy({ oidcRequiredClaim: { tenant: 'red' } }), /tenant value does not match/)
    await assert.rejects(userBy({ oidcSigningAlgs: ['ES256'] }), /"alg"/)
    await assert.rejects(userBy({ oidcClientId: 'other' }), /"aud"/)
    await assert.rejects(userBy({ oidcUsernameClaim: 'email' }, { email_verified: false }), /not verified/)
  })

  it('report in one sentence what to change', async () => {
    await refused(
      { oidcIssuerUrl: idp.url },
      /^--oidc-issuer-url and --oidc-client-id must be specified together/,
    )
    await refused({ oidcGroupsClaim: 'teams' }, /must be specified together/)
    await refused(
      { ...required, oidcIssuerUrl: 'http://a' },
      /in the --oidc-\* flags: .*URL scheme must be https/,
    )
    await refused({ ...required, oidcCaFile: join(folder, 'none') }, /give --oidc-ca-file a readable file/)
  })
})
