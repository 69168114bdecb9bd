import assert from 'node:assert/strict'
import { originAnnotation } from '../../framework/contract/item.ts'
import type { PeerClient } from '../../framework/contract/peer.ts'
import { StatusError } from '../../framework/meta/errors.ts'
import { migrationGroup } from '../../kcp/apigroups.ts'
import { homeThere } from './home.ts'

const resource = { group: migrationGroup, version: 'v1alpha1', resource: 'logicalclustermigrations' }

/** A shard that answers requests for migrations, and for LogicalClusters: with an object, or an error of this code. */
function peerWith(answers: { readonly migration: object | number; readonly home: object | number }) {
  const get = async (path: string): Promise<unknown> => {
    const answer = path.endsWith('/logicalclusters/cluster') ? answers.home : answers.migration
    if (typeof answer === 'number') throw new StatusError(answer, '', `answer ${answer}`)
    return answer
  }
  return { get } as unknown as PeerClient
}

describe('a migration that another shard stores', () => {
  const read = (migration: object | number, home: object | number): Promise<unknown> =>
    homeThere(peerWith({ migration, home }), resource).read('org|move')
  const copy = { metadata: { annotations: { [originAnnotation]: 'beta' } } }
  const own = { metadata: { annotations: {} } }

  it('is gone when the shard does not have it, or its logical cluster', async () => {
    assert.deepEqual(await read({ found: true }, own), { found: true })
    assert.equal(await read(404, own), undefined)
    for (const home of [403, 404, copy]) assert.equal(await read(403, home), undefined)
  })

  it('is not gone while its logical cluster is inactive: its steps would be undone, and done again later', async () => {
    await assert.rejects(read(403, own), { code: 403 })
    await assert.rejects(read(403, 503), { code: 503 })
    await assert.rejects(read(503, own), { code: 503 })
  })
})
