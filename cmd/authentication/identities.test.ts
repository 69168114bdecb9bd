import assert from 'node:assert/strict'
import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { silent } from '../../framework/contract/log.ts'
import { startIssuer } from '../../test/support/servers/issuer.ts'
import { temporaryDirectory } from '../../test/support/temporary.ts'
import { issueAuthority } from '../certificates/certificates.ts'
import { type PreparedIdentities, prepareIdentities } from './authentication.ts'

const [first, second] = [issueAuthority().certificate, issueAuthority().certificate]

describe('the files of authentication', () => {
  let directory: string
  let stop: AbortController
  beforeEach(async () => {
    directory = await temporaryDirectory('identities')
    stop = new AbortController()
  })
  afterEach(() => stop.abort())

  const at = (name: string): string => join(directory, name)

  /** Resolves with the authorities when a port gets them. */
  const followed = (identities: PreparedIdentities): Promise<string | undefined> =>
    new Promise(resolve => {
      const server = { useCertificate: ({ clientCA }: { readonly clientCA?: string }) => resolve(clientCA) }
      identities.follow(server, { log: silent, signal: stop.signal })
    })

  it('are read again when the target of a link has changed', async () => {
    await writeFile(at('target.crt'), first)
    await mkdir(at('links'))
    await symlink(at('target.crt'), at('links/ca.crt'))
    const identities = await prepareIdentities({ clientCaFile: at('links/ca.crt') }, [])
    const used = followed(identities)
    await writeFile(at('target.crt'), second)
    assert.equal((await used)?.trim(), second.trim())
    assert.deepEqual(identities.authorities(), { users: second })
  })

  it('are read again when they have changed before the server was ready', async () => {
    await writeFile(at('ca.crt'), first)
    const identities = await prepareIdentities({ clientCaFile: at('ca.crt') }, [])
    await writeFile(at('ca.crt'), second)
    assert.equal((await followed(identities))?.trim(), second.trim())
  })

  it('are read again while others of them are not valid', async () => {
    const [users, proxies, config] = [at('users.crt'), at('proxies.crt'), at('config.yaml')]
    await Promise.all([users, proxies].map(file => writeFile(file, first)))
    const anonymous = '\nanonymous: {enabled: false}'
    await writeFile(
      config,
      `apiVersion: apiserver.config.k8s.io/v1\nkind: AuthenticationConfiguration${anonymous}`,
    )
    const flags = { clientCaFile: users, requestheaderClientCaFile: proxies, authenticationConfig: config }
    const identities = await prepareIdentities(flags, [])
    await writeFile(config, 'kind: Other')
    await writeFile(proxies, 'no certificate')
    const used = followed(identities)
    await writeFile(users, second)
    await used
    assert.deepEqual(identities.authorities(), { users: second, proxies: first })
    assert.equal(identities.with().authenticator.admitsAnonymous?.('/api'), false)
  })

  it('leave the keys of an issuer that has not changed', async () => {
    const [idp, other] = await Promise.all([startIssuer(), startIssuer()])
    const entry = ({ url, ca }: typeof idp, prefix: string) => ({
      issuer: { url, audiences: ['oriel'], certificateAuthority: ca },
      claimMappings: { username: { claim: 'sub', prefix } },
    })
    const write = (...jwt: readonly object[]): Promise<void> =>
      writeFile(
        at('config.yaml'),
        JSON.stringify({
          apiVersion: 'apiserver.config.k8s.io/v1',
          kind: 'AuthenticationConfiguration',
          jwt,
        }),
      )
    await write(entry(idp, ''), entry(other, 'before:'))
    const identities = await prepareIdentities({ authenticationConfig: at('config.yaml') }, [])
    const { tokens } = identities.with()
    const nameOf = async (issuer: typeof idp, sub: string): Promise<string> =>
      (await tokens.identify(await issuer.token({ sub }), {})).user.name
    assert.equal(await nameOf(idp, 'bob'), 'bob')
    idp.answer(500)
    await write(entry(idp, ''), entry(other, 'after:'))
    const changed = new Promise<void>(resolve => {
      const log = { ...silent, warn: () => resolve() }
      identities.follow({ useCertificate: () => undefined }, { log, signal: stop.signal })
    })
    await changed
    assert.equal(await nameOf(other, 'zoe'), 'after:zoe')
    assert.equal(await nameOf(idp, 'eve'), 'eve')
    await Promise.all([idp, other].map(each => each.stop()))
  })
})
