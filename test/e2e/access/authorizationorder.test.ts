import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { discard, type Oriel, readText, startOriel } from '../../support/oriel.ts'
import { startWebhook, type Webhook } from '../../support/servers/webhook.ts'
import { temporaryDirectory } from '../../support/temporary.ts'
import { ask } from '../../support/wire.ts'

describe('a webhook before the other authorizers', function () {
  this.timeout(60_000)
  let oriel: Oriel
  let hook: Webhook
  let ca: string
  let isAllowed = true

  before(async () => {
    const directory = await temporaryDirectory('order')
    hook = await startWebhook(() => {
      const status = { allowed: isAllowed, denied: !isAllowed, reason: 'the hook decides' }
      return { kind: 'SubjectAccessReview', apiVersion: 'authorization.k8s.io/v1', status }
    })
    const kubeconfig = join(directory, 'hook.yaml')
    await writeFile(kubeconfig, hook.kubeconfig)
    const args = [
      ...['--store', 'memory:', '--authorization-order', 'Webhook,AlwaysAllowGroups,AlwaysAllowPaths,RBAC'],
      ...['--authorization-webhook-config-file', kubeconfig, '--authorization-webhook-version', 'v1'],
    ]
    oriel = await startOriel({ directory, args })
    ca = await readText(join(oriel.directory, 'ca.crt'))
  })
  after(async () => {
    await discard(oriel)
    await hook.close()
  })

  it('decides about health endpoints, as in kcp', async () => {
    assert.equal((await ask('HTTP/1.1', `${oriel.url}/livez`, { ca })).status, 200)
    const paths = hook.got.map(
      ({ spec }) => (spec as { nonResourceAttributes?: object }).nonResourceAttributes,
    )
    assert.deepEqual(paths.at(-1), { path: '/livez', verb: 'get' })
    isAllowed = false
    const refused = await ask('HTTP/1.1', `${oriel.url}/readyz/ping`, { ca })
    assert.equal(refused.status, 403, refused.body)
    assert.match(refused.body, /cannot get path \\"\/readyz\\"/)
  })
})
