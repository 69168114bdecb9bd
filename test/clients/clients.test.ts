import assert from 'node:assert/strict'
import { fixture } from '../conformance/fixture.ts'
import { discard, type Oriel, run } from '../support/oriel.ts'
import { startServer } from '../support/servers/kcp.ts'
import {
  bind,
  bindingOf,
  createWorkspaces,
  exportApi,
  publishedUrl,
  type Tenant,
} from '../support/tenants.ts'

const claimed = [
  { group: '', resource: 'configmaps' },
  { group: 'coordination.k8s.io', resource: 'leases' },
  { group: '', resource: 'events' },
]
const claims = claimed.map(claim => ({ ...claim, verbs: ['*'] }))
const accepted = claims.map(claim => ({ ...claim, selector: { matchAll: true }, state: 'Accepted' }))

describe('Go clients: client-go and controller-runtime', function () {
  this.timeout(900_000)
  let oriel: Oriel | undefined
  after(async () => {
    if (oriel !== undefined) await discard(oriel)
  })

  it('work in a workspace and through the apiexport view', async () => {
    oriel = await startServer()
    const [provider, consumer] = (await createWorkspaces(oriel, ['provider', 'consumer'])) as [Tenant, Tenant]
    const name = await exportApi(provider, fixture, claims)
    await bind(consumer, bindingOf(provider, name, accepted))
    const env = {
      ORIEL_KUBECONFIG: oriel.kubeconfig,
      ORIEL_WORKSPACE: `${oriel.url}/clusters/${consumer.cluster}`,
      ORIEL_CLUSTER: consumer.cluster,
      ORIEL_VIEW: await publishedUrl(provider, name),
    }
    const outcome = await run('go', ['test', '-count=1', '-v', './...'], {
      cwd: import.meta.dirname,
      env,
    })
    assert.equal(outcome.code, 0, `${outcome.stdout}\n${outcome.stderr}\n${oriel.output()}`)
    assert.ok(!outcome.stdout.includes('--- SKIP'), outcome.stdout)
  })
})
