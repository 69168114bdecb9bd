import assert from 'node:assert/strict'
import { versionInfo } from '../../framework/contract/version.ts'
import { unfitDestination } from './reach.ts'
import type { MigrationStep } from './step.ts'

const ofOriel = versionInfo({ version: '0.1.0', commit: 'abc', date: '2026-11-01T00:00:00Z' })

/** A migration to `eu`, and what the shard answers. */
const stepTo = (get?: () => Promise<unknown>): MigrationStep =>
  ({
    deps: { peers: new Map(get ? [['eu', { get }]] : []) },
    migration: { metadata: { name: 'to-eu' }, spec: { destinationShard: 'eu' } },
  }) as unknown as MigrationStep

describe('the destination of a migration', () => {
  const cases = {
    'a shard of Oriel': [async () => ofOriel, undefined],
    'an unknown shard': [undefined, { message: 'shard eu is not known or not reachable', isFinal: false }],
    'a shard that does not respond': [
      () => Promise.reject(new Error('ECONNREFUSED')),
      { message: 'shard eu does not respond: ECONNREFUSED', isFinal: false },
    ],
    'a shard of kcp': [
      async () => ({ gitVersion: 'v1.36.0+kcp-v0.30.0' }),
      { message: 'shard eu is not a shard of Oriel, whose entries have another format', isFinal: true },
    ],
  } as const
  for (const [what, [get, expected]] of Object.entries(cases))
    it(`is ${expected === undefined ? 'fit' : 'unfit'}: ${what}`, async () =>
      assert.deepEqual(await unfitDestination(stepTo(get)), expected))
})
