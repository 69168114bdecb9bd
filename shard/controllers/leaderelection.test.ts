import assert from 'node:assert/strict'
import { silent } from '../../framework/contract/log.ts'
import { notFound } from '../../framework/meta/errors.ts'
import type { KubeObject } from '../../framework/meta/object.ts'
import type { ControllerClient } from './client.ts'
import { type ElectionOptions, runAsLeader } from './leaderelection.ts'
import { ControllerTerm } from './term.ts'

const timing = { duration: 150, renewDeadline: 90, retryPeriod: 10 }

/** A client with one Lease; `isCut`: a server whose writes fail. */
class Leases {
  stored: KubeObject | undefined
  readonly cut = new Set<string>()

  clientOf(identity: string): ControllerClient {
    const checked = async (): Promise<void> => {
      if (this.cut.has(identity)) throw new Error('etcd did not answer')
    }
    return {
      list: async () => [],
      create: async (_resource, _key, object) => {
        await checked()
        this.stored = object
        return object
      },
      update: async (_resource, { name }, change) => {
        await checked()
        if (this.stored === undefined) throw notFound({ group: '', resource: 'leases', name })
        this.stored = change(this.stored)
        return this.stored
      },
      delete: async () => undefined,
    }
  }
}

const leaseResource = { group: 'coordination.k8s.io', version: 'v1', resource: 'leases' }
const leaseKey = { cluster: 'root', namespace: 'default', name: 'any' }

interface Started extends Pick<ElectionOptions, 'term' | 'now'> {
  /** A request of a controller. */
  readonly request?: (until: AbortSignal) => Promise<void>
}

describe('leader election', () => {
  let leases: Leases
  let working: string[]
  let changed: () => void
  let running: { readonly stop: AbortController; readonly done: Promise<void> }[]
  beforeEach(() => {
    leases = new Leases()
    working = []
    running = []
    changed = () => undefined
  })
  afterEach(async () => {
    for (const { stop } of running) stop.abort()
    await Promise.all(running.map(({ done }) => done))
  })

  /** Starts a server that is in `working` while it leads. */
  function start(identity: string, { request = async () => undefined, ...more }: Started = {}) {
    const stop = new AbortController()
    const work = async (until: AbortSignal): Promise<void> => {
      working.push(identity)
      changed()
      const ended = new Promise(resolve => until.addEventListener('abort', resolve, { once: true }))
      await Promise.all([ended, request(until)])
      working.splice(working.indexOf(identity), 1)
      changed()
    }
    const options = { client: leases.clientOf(identity), log: silent, timing, identity, ...more }
    const server = { stop, done: runAsLeader(options, stop.signal, work) }
    running.push(server)
    return server
  }

  it('stops a leader whose requests do not end, before another one begins', async () => {
    const term = new ControllerTerm()
    const hanging: ControllerClient = { ...leases.clientOf('a'), delete: () => new Promise(() => undefined) }
    const request = (until: AbortSignal): Promise<void> =>
      term
        .client(hanging)
        .delete(leaseResource, leaseKey)
        .catch(() => assert.ok(until.aborted))
    start('a', { term, request })
    await works('a')
    start('b')
    leases.cut.add('a')
    await works('b')
  })

  it('refuses requests of a leader that was paused for longer than its Lease, before any timer runs', async () => {
    let paused = 0
    const now = (): number => performance.now() + paused
    const term = new ControllerTerm(now)
    const client = term.client(leases.clientOf('a'))
    start('a', { term, now })
    await works('a')
    await client.delete(leaseResource, leaseKey)
    paused = timing.duration
    await assert.rejects(client.delete(leaseResource, leaseKey), { code: 503 })
  })

  it('refuses to repeat a change after such a pause: it is made of what the server knew before', async () => {
    let paused = 0
    const term = new ControllerTerm(() => performance.now() + paused)
    const conflicting: ControllerClient = {
      ...leases.clientOf('a'),
      update: async (_resource, _key, change) => {
        const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: {} }
        change(object)
        paused = timing.duration
        return change(object)
      },
    }
    term.begin(performance.now() + timing.duration, new AbortController().signal)
    const updating = term.client(conflicting).update(leaseResource, leaseKey, object => object)
    await assert.rejects(updating, { code: 503 })
  })

  /** Resolves when exactly these work; fails when two work at the same time. */
  const works = (...expected: readonly string[]): Promise<void> =>
    new Promise((resolve, reject) => {
      changed = () => {
        if (working.length > 1) reject(new Error(`${working} work at the same time`))
        if (working.join() === expected.join()) resolve()
      }
      changed()
    })

  it('lets one server work', async () => {
    start('a')
    await works('a')
    start('b')
    const { spec } = leases.stored as KubeObject & { readonly spec: Record<string, unknown> }
    assert.equal(spec.holderIdentity, 'a')
    assert.equal(spec.leaseTransitions, 0)
    assert.match(String(spec.renewTime), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/)
  })

  it('hands over when the leader stops', async () => {
    const a = start('a')
    await works('a')
    start('b')
    a.stop.abort()
    await works('b')
  })

  it('stops a leader that cannot renew, before another one begins', async () => {
    start('a')
    await works('a')
    start('b')
    leases.cut.add('a')
    await works('b')
    leases.cut.delete('a')
    leases.cut.add('b')
    await works('a')
  })

  it('does not compare the clocks of servers', async () => {
    const spec = { holderIdentity: 'gone', leaseDurationSeconds: 0, renewTime: '2001-01-01T00:00:00.000000Z' }
    leases.stored = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: {}, spec }
    const begun = performance.now()
    start('a')
    await works('a')
    assert.ok(
      performance.now() - begun >= timing.duration,
      'the Lease was taken before its duration was over',
    )
  })
})
