import assert from 'node:assert/strict'
import { join } from 'node:path'
import { parseAllDocuments } from 'yaml'
import type { KubeObject } from '../../framework/index.ts'
import { startServer } from '../support/kcp.ts'
import { discard, type Oriel, readText, run } from '../support/oriel.ts'
import { root } from '../support/source.ts'
import { apply, bind, createWorkspaces, publishedUrl, type Tenant } from '../support/tenants.ts'

const documents = async (file: string): Promise<readonly KubeObject[]> =>
  parseAllDocuments(await readText(join(root, 'examples/walkthrough', file))).map(d => d.toJS() as KubeObject)

describe('Go clients: client-go and controller-runtime', function () {
  this.timeout(900_000)
  let oriel: Oriel | undefined
  after(async () => {
    if (oriel !== undefined) await discard(oriel)
  })

  it('work in a workspace and through the apiexport view', async () => {
    oriel = await startServer()
    const [provider, consumer] = (await createWorkspaces(oriel, ['provider', 'consumer'])) as [Tenant, Tenant]
    await apply(provider.kubectl, ...(await documents('provider.yaml')))
    await provider.kubectl([
      'wait',
      '--for=condition=IdentityValid',
      '--timeout=60s',
      'apiexport/widgets.example.com',
    ])
    for (const binding of await documents('binding.yaml')) await bind(consumer, binding)
    const env = {
      ORIEL_KUBECONFIG: oriel.kubeconfig,
      ORIEL_WORKSPACE: `${oriel.url}/clusters/${consumer.cluster}`,
      ORIEL_VIEW: await publishedUrl(provider, 'widgets.example.com'),
    }
    const outcome = await run('go', ['test', '-count=1', '-v', './...'], {
      cwd: import.meta.dirname,
      env,
    })
    assert.equal(outcome.code, 0, `${outcome.stdout}\n${outcome.stderr}\n${oriel.output()}`)
    assert.ok(!outcome.stdout.includes('--- SKIP'), outcome.stdout)
  })
})
