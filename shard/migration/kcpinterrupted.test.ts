import assert from 'node:assert/strict'
import { contextWith } from '../../framework/contract/context.ts'
import { silent } from '../../framework/contract/log.ts'
import type { PeerClient } from '../../framework/contract/peer.ts'
import type { KubeObject, Metadata } from '../../framework/meta/object.ts'
import { decodeObject } from '../../framework/wire/encode.ts'
import { isCopy, migratingAnnotation } from '../../kcp/annotations.ts'
import {
  type DumpEntry,
  dumpsPath,
  type LogicalClusterDump,
  type MigrationPhase,
  type MigrationStatus,
} from '../../kcp/migration.ts'
import { resources } from '../../kcp/resources.ts'
import { externalLogicalClusterAdmin } from '../../kcp/users.ts'
import { decodeStored } from '../cache/codec.ts'
import { entryFromKcp } from '../entries/fromkcp.ts'
import { jsonEntry, protobufEntry } from '../entries/testing/kcpentry.ts'
import { type TestShard, testShard } from '../testing/shard.ts'
import { copyPage, finalize } from './destination.ts'
import type { MigrationChange } from './home.ts'
import { cleanUp, prepare } from './origin.ts'
import type { MigrationStep } from './step.ts'
import { stepOf } from './testing/step.ts'

const cluster = 'moving'
const names = ['a', 'b', 'c', 'd', 'e']
const configMap = (name: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'default' },
  data: { of: name },
})

/** A process that ends at its nth write, before it or after it. */
class Fault {
  #left: number
  readonly #isAfter: boolean
  isOver = false

  constructor(write: number, isAfter: boolean) {
    this.#left = write
    this.#isAfter = isAfter
  }

  async around<T>(write: () => Promise<T>): Promise<T> {
    if (this.isOver || this.#left-- > 0) return write()
    this.isOver = true
    if (this.#isAfter) await write()
    throw new Error('the process has ended')
  }
}

/** A stored migration, and the steps of the shard of Oriel. */
class Moving {
  readonly #shard: TestShard
  readonly #peer: Partial<PeerClient>
  readonly #fault: Fault
  #metadata: Metadata = { name: 'move' }
  status: MigrationStatus

  constructor(shard: TestShard, peer: Partial<PeerClient>, fault: Fault, status: MigrationStatus) {
    this.#shard = shard
    this.#peer = peer
    this.#fault = fault
    this.status = status
  }

  step(destinationShard: string): MigrationStep {
    const { content, informers } = this.#shard
    const transfer: typeof content.transfer = changes => this.#fault.around(() => content.transfer(changes))
    const deps = {
      content: { ...content, transfer },
      informers,
      log: silent,
      shard: { name: 'oriel' },
      peers: new Map([['kcp', this.#peer as PeerClient]]),
      apis: () => undefined,
      tenancy: { shards: resources.apiExports, workspaceTypes: resources.apiExports },
    }
    const write = (_: object, __: string, change: MigrationChange): Promise<void> =>
      this.#fault.around(async () => {
        if ('status' in change) this.status = change.status
        else this.#metadata = { ...this.#metadata, finalizers: change.finalizers }
      })
    return stepOf({
      deps,
      write,
      metadata: this.#metadata,
      status: this.status,
      spec: { logicalCluster: cluster, destinationShard },
    })
  }

  /** Does the steps of each phase, again after the process has ended, until the last phase. */
  async until(
    last: MigrationPhase,
    steps: Partial<Record<MigrationPhase, () => Promise<unknown>>>,
  ): Promise<void> {
    for (let turns = 0; this.status.phase !== last; turns++) {
      assert.ok(turns < 50, `it stays in ${this.status.phase}`)
      const step = steps[this.status.phase ?? 'Preparing']
      assert.ok(step, this.status.phase)
      await step().catch((error: Error) => assert.match(error.message, /the process has ended/))
    }
  }

  set(phase: MigrationPhase): void {
    this.status = { ...this.status, phase }
  }
}

/** Runs `move` with a fault at each of its writes, until one run has fewer writes. */
async function atEveryWrite(move: (fault: Fault) => Promise<void>): Promise<number> {
  for (let write = 0; ; write++)
    for (const isAfter of [false, true]) {
      const fault = new Fault(write, isAfter)
      await move(fault)
      if (!fault.isOver) return write
    }
}

describe('a process that ends at any write of a migration', () => {
  const mapsOn = async ({ content }: TestShard): Promise<readonly string[]> => {
    const place = '/registry/moving/core/configmaps/-/default'
    const values = await content.values(`${place}/`, `${place}0`, 99)
    return values.map(({ value }) => decodeObject(decodeStored(value).bytes).metadata.name ?? '')
  }

  it('loses no object that comes from a shard of kcp', async () => {
    const annotations = { [migratingAnnotation]: 'root:move' }
    const home = {
      apiVersion: 'core.kcp.io/v1alpha1',
      kind: 'LogicalCluster',
      metadata: { name: 'cluster', annotations },
    }
    const entries = [
      jsonEntry('core.kcp.io/logicalclusters/customresources/moving/cluster', home),
      ...names.map(name => protobufEntry(`core/configmaps/moving/default/${name}`, configMap(name))),
    ]
    const writes = await atEveryWrite(async fault => {
      const shard = await testShard()
      const kcp = kcpOrigin(entries)
      const moving = new Moving(shard, kcp, fault, { phase: 'Migrating', originShard: 'kcp' })
      await moving.until('Completed', {
        Migrating: () => copyPage(moving.step('oriel')),
        OriginCleanup: async () => {
          kcp.hasLeft = true
          moving.set('DestinationFinalize')
        },
        DestinationFinalize: () => finalize(moving.step('oriel')),
      })
      assert.deepEqual(await mapsOn(shard), names)
      await shard.stop()
    })
    assert.ok(writes > 8, `${writes} writes`)
  })

  it('loses no object that goes to a shard of kcp', async () => {
    const writes = await atEveryWrite(async fault => {
      const shard = await testShard()
      await shard.addCluster(cluster)
      for (const name of names)
        await shard.content.add([{ cluster, resource: resources.configMaps, object: configMap(name) }])
      const there = new Map<string, DumpEntry>()
      const peer = { get: async <T>() => ({ gitVersion: 'v1.36.0+kcp-v0.30.0' }) as T }
      const moving = new Moving(shard, peer, fault, {})
      await moving.until('DestinationFinalize', {
        Preparing: () => prepare(moving.step('kcp')),
        Migrating: async () => {
          for (const entry of await dumped(shard)) there.set(entry.key, entry)
          moving.set('OriginCleanup')
        },
        OriginCleanup: () => cleanUp(moving.step('kcp')),
      })
      const found = [...there.values()].map(entry => decodeStored(entryFromKcp(cluster, entry).value).bytes)
      const maps = found.map(decodeObject).filter(({ kind }) => kind === 'ConfigMap')
      assert.deepEqual(maps.map(({ metadata }) => metadata.name).sort(), names)
      assert.deepEqual(await mapsOn(shard), [])
      const left = shard.informers.for(resources.logicalClusters).get(cluster, '', 'cluster')
      assert.ok(left && isCopy(left.object))
      await shard.stop()
    })
    assert.ok(writes > 5, `${writes} writes`)
  })
})

/** A shard of kcp with entries in pages of two, as long as it has not removed them. */
function kcpOrigin(entries: readonly DumpEntry[]): Partial<PeerClient> & { hasLeft: boolean } {
  return {
    hasLeft: false,
    async post<T>(_: string, body: object) {
      assert.ok(!this.hasLeft, 'nothing is asked for any more')
      const { spec, metadata } = body as LogicalClusterDump
      const from = Number(spec?.continue || 0)
      const next = from + 2 < entries.length ? { continue: String(from + 2) } : {}
      return { metadata, status: { entries: entries.slice(from, from + 2), ...next } } as T
    },
    get: async <T>() => ({ metadata: { resourceVersion: '77' } }) as T,
  }
}

/** All pages as a shard of kcp asks for them. */
async function dumped(shard: TestShard): Promise<readonly DumpEntry[]> {
  const entries: DumpEntry[] = []
  for (let after: string | undefined = ''; after !== undefined; ) {
    const ctx = contextWith(shard.context(resources.configMaps, cluster), {
      cluster,
      user: { name: 'kcp', groups: [externalLogicalClusterAdmin] },
      info: { isResource: false, verb: 'post', path: dumpsPath },
    })
    const bytes = Buffer.from(JSON.stringify({ metadata: {}, spec: { continue: after, limit: 2 } }))
    const request = { method: 'POST', query: new URLSearchParams(), headers: {}, body: async () => bytes }
    const chunks: Buffer[] = []
    for await (const chunk of (await shard.backend.forward(ctx, request)).body) chunks.push(chunk)
    const { status }: LogicalClusterDump = JSON.parse(Buffer.concat(chunks).toString())
    entries.push(...(status?.entries ?? []))
    after = status?.continue
  }
  return entries
}
