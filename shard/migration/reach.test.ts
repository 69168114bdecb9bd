import assert from 'node:assert/strict'
import { serviceUnavailable } from '../../framework/meta/errors.ts'
import { reachDestination } from './reach.ts'
import type { MigrationStep } from './step.ts'

describe('the destination of a migration', () => {
  const asked = (get: (() => Promise<unknown>) | undefined): ReturnType<typeof reachDestination> => {
    const peers = new Map(get === undefined ? [] : [['beta', { get }]])
    return reachDestination({
      deps: { peers },
      migration: { spec: { destinationShard: 'beta' } },
    } as unknown as MigrationStep)
  }
  const version = (gitVersion?: string) => async () => ({ gitVersion })

  it('is a shard of Oriel or of kcp', async () => {
    assert.deepEqual(await asked(version('v1.33.0+oriel-0.1.0')), { isKcp: false })
    assert.deepEqual(await asked(version('v1.33.3+kcp-v0.28.1')), { isKcp: true })
    assert.deepEqual(await asked(version()), { isKcp: true })
  })

  it('is waited for while it is unknown or does not respond', async () => {
    const unknown = await asked(undefined)
    assert.ok(unknown instanceof Error)
    assert.equal(unknown.message, 'shard beta is not known or not reachable')
    const silent = await asked(() => Promise.reject(serviceUnavailable('a')))
    assert.ok(silent instanceof Error)
    assert.equal(silent.message, 'shard beta does not respond: a')
  })
})
