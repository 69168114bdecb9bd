import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { webhookDefaults } from '../../authz/index.ts'
import { AuditMeters } from '../../framework/audit/index.ts'
import { webhookTokensDefaults } from '../../framework/authn/index.ts'
import { silent } from '../../framework/contract/log.ts'
import { auditWebhook, authorizationWebhook, tokenWebhook } from '../authentication/webhooks.ts'
import { issueAuthority, issueClient } from '../certificates/certificates.ts'
import { readCredentials, readKubeconfig, readServerAccess } from './kubeconfigfile.ts'
import { StartError } from './starterror.ts'

describe('a kubeconfig file', () => {
  const issuer = issueAuthority()
  const { certificate: authority } = issuer
  const admin = issueClient(issuer, 'admin')
  let directory: string
  const file = (name: string): string => join(directory, name)
  const write = (cluster: object, user: object): Promise<void> =>
    writeFile(
      file('config'),
      JSON.stringify({
        'current-context': 'c',
        contexts: [{ name: 'c', context: { cluster: 's', user: 'u' } }],
        clusters: [{ name: 's', cluster: { server: 'https://server:6443/clusters/root', ...cluster } }],
        users: [{ name: 'u', user }],
      }),
    )
  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'oriel-kubeconfig-'))
    await mkdir(file('tls'))
    await writeFile(file('tls/ca.crt'), authority)
    await writeFile(file('admin.crt'), admin.certificate)
    await writeFile(file('admin.key'), admin.key)
    await writeFile(file('other.key'), issuer.key)
    await writeFile(file('token'), 'secret\n')
  })
  after(() => rm(directory, { recursive: true }))

  it('has paths relative to its directory, or absolute', async () => {
    const user = { 'client-certificate': 'admin.crt', 'client-key': file('admin.key') }
    await write({ 'certificate-authority': 'tls/ca.crt' }, { ...user, tokenFile: './token' })
    assert.deepEqual(await readKubeconfig(file('config')), {
      server: 'https://server:6443/clusters/root',
      ca: authority,
      cert: admin.certificate,
      key: admin.key,
      token: 'secret',
    })
    assert.equal((await readServerAccess('--root-kubeconfig', file('config'))).server, 'https://server:6443')
  })

  it('has credentials for several servers without naming one', async () => {
    await write({ server: '', 'certificate-authority': 'tls/ca.crt' }, { token: 'secret' })
    assert.deepEqual(await readCredentials('--shards-kubeconfig', file('config')), {
      ca: authority,
      token: 'secret',
    })
  })

  it('is refused with one sentence', async () => {
    const exec = { command: 'aws', args: ['eks', 'get-token'] }
    const table: readonly (readonly [object, object, string])[] = [
      [
        {},
        { exec },
        `${file('config')} must not set exec: set a token or a client certificate instead (--root-kubeconfig).`,
      ],
      [
        { 'certificate-authority': 'none' },
        {},
        `${file('none')} cannot be read (ENOENT): give the name of a readable file (--root-kubeconfig).`,
      ],
      [
        { 'certificate-authority': 'token' },
        {},
        `${file('token')} contains no valid certificate: give the cluster an authority in PEM (--root-kubeconfig).`,
      ],
      [
        {},
        { 'client-certificate': 'admin.crt', 'client-key': 'other.key' },
        `${file('config')} has a client certificate without its private key: set client-key to it (--root-kubeconfig).`,
      ],
      [
        {},
        { 'client-certificate': 'admin.crt' },
        `${file('config')} has a client certificate without its private key: set client-key to it (--root-kubeconfig).`,
      ],
      [{ server: '' }, {}, `${file('config')} has no server for the context "c" (--root-kubeconfig).`],
      [
        { server: 'localhost:6443' },
        {},
        `${file('config')} has no absolute URL as server for the context "c": set one such as https://host:6443 (--root-kubeconfig).`,
      ],
    ]
    for (const [cluster, user, message] of table) {
      await write(cluster, user)
      await assert.rejects(
        readServerAccess('--root-kubeconfig', file('config')),
        error => error instanceof StartError && error.message === message,
      )
    }
  })

  it('is refused with the flag of its webhook', async () => {
    await writeFile(file('config'), '{}')
    const meters = new AuditMeters()
    const ending = { log: silent, signal: AbortSignal.abort() }
    const webhooks: readonly (readonly [string, () => Promise<unknown>])[] = [
      ['audit-webhook-config-file', () => auditWebhook(file('config'), { ...ending, meters })],
      [
        'authorization-webhook-config-file',
        () => authorizationWebhook(file('config'), webhookDefaults, ending),
      ],
      ['authentication-token-webhook-config-file', () => tokenWebhook(file('config'), webhookTokensDefaults)],
    ]
    for (const [flag, open] of webhooks)
      await assert.rejects(open, {
        name: 'StartError',
        message: `${file('config')} has no current context (--${flag}).`,
      })
  })
})
