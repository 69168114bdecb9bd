import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { eventually, readText, startOriel } from '../../support/oriel.ts'
import { startWebhook } from '../../support/servers/webhook.ts'
import { temporaryDirectory } from '../../support/temporary.ts'
import { ask } from '../../support/wire.ts'

const flags = [
  '--authentication-token-webhook-config-file',
  '--authorization-webhook-config-file',
  '--audit-webhook-config-file',
]

describe('the credentials for webhooks', function () {
  this.timeout(60_000)

  it('are read again when the kubeconfig changes', async () => {
    const directory = await temporaryDirectory('webhooks')
    const last = new Map<unknown, string | undefined>()
    const hook = await startWebhook(({ kind, apiVersion }, authorization) => {
      last.set(kind, authorization)
      return { kind, apiVersion, status: { allowed: true, authenticated: true, user: { username: 'ann' } } }
    })
    const [kubeconfig, policy] = [join(directory, 'hook.yaml'), join(directory, 'policy.yaml')]
    await writeFile(kubeconfig, hook.kubeconfig)
    await writeFile(policy, 'apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: Metadata}]\n')
    const files = flags.flatMap(flag => [flag, kubeconfig])
    const args = ['--store', 'memory:', ...files, '--audit-policy-file', policy]
    const oriel = await startOriel({ directory, args })
    const ca = await readText(join(oriel.directory, 'ca.crt'))
    const askAs = async (token: string) => {
      const headers = { authorization: `Bearer ${token}` }
      const path = `/clusters/root/api/v1/namespaces/${token}`
      assert.equal((await ask('HTTP/1.1', oriel.url + path, { ca, headers })).status, 404)
    }
    await askAs('one')
    assert.deepEqual([...new Set(last.values())], ['Bearer secret'])
    await writeFile(kubeconfig, hook.kubeconfig.replace('secret', 'renewed'))
    for (const flag of flags)
      await eventually(
        async () => oriel.output(),
        output => output.includes(`credentials of ${flag} reloaded`),
      )
    last.clear()
    await askAs('two')
    await oriel.stop()
    assert.deepEqual(
      last,
      new Map(['TokenReview', 'SubjectAccessReview', 'EventList'].map(kind => [kind, 'Bearer renewed'])),
    )
    hook.close()
  })
})
