import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { KubeObject } from '../../../framework/index.ts'
import { eventually, type Kubectl } from '../../support/oriel.ts'
import { type FrontProxy, startFrontProxy } from '../../support/servers/frontproxy.ts'
import { type Shards, startShards } from '../../support/servers/shards.ts'
import { apply } from '../../support/tenants.ts'

const workspace = (name: string, shard: string, type?: string): KubeObject => ({
  apiVersion: 'tenancy.kcp.io/v1alpha1',
  kind: 'Workspace',
  metadata: { name },
  spec: {
    location: { selector: { matchLabels: { name: shard } } },
    ...(type && { type: { name: type, path: 'root' } }),
  },
})

const slow: KubeObject = {
  apiVersion: 'tenancy.kcp.io/v1alpha1',
  kind: 'WorkspaceType',
  metadata: { name: 'slow' },
  spec: { initializer: true, extend: { with: [{ name: 'universal', path: 'root' }] } },
}

interface Workspace extends KubeObject {
  readonly status?: {
    readonly phase: string
    readonly conditions?: readonly { type: string; message?: string }[]
  }
}

interface Shard extends KubeObject {
  readonly spec: { readonly virtualWorkspaceURL: string }
}

const finished = ({ status }: Workspace): string =>
  status?.conditions?.find(({ type }) => type === 'ControllersFinished')?.message ?? ''

describe('views of two shards', function () {
  this.timeout(180_000)
  let folder: string
  let shards: Shards
  let proxy: FrontProxy
  let root: Kubectl

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'oriel-shardedviews-'))
    shards = await startShards(folder)
    proxy = await startFrontProxy({ folder, name: 'proxy', shards: [shards.root, shards.beta] })
    root = proxy.kubectl.at('/clusters/root')
    await root(['wait', '--for=create', 'shard/beta'])
  })
  after(async () => {
    await proxy.stop()
    await Promise.all([shards.root.stop(), shards.beta.stop()])
    await rm(folder, { recursive: true })
  })

  for (const shard of ['root', 'beta'])
    it(`are named by a workspace on the shard ${shard} that waits for its initializer`, async () => {
      const name = `slow-${shard}`
      await apply(root, slow, workspace(name, shard, 'slow'))
      const waiting = await eventually(
        () => root.json<Workspace>(['get', 'workspace', name]),
        found => / at https:/.test(finished(found)),
      )
      const { spec } = await root.json<Shard>(['get', 'shard', shard])
      const url = `${spec.virtualWorkspaceURL}/services/initializingworkspaces/root:slow`
      assert.ok(finished(waiting).endsWith(` at ${url}`), finished(waiting))
    })
})
