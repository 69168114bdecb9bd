import assert from 'node:assert/strict'
import { catchUp } from './catchup.ts'
import { type Fixture, forever, open } from './testing/fixture.ts'

describe('a read that needs every change of other servers', () => {
  let fixture: Fixture
  beforeEach(async () => {
    fixture = await open()
  })
  afterEach(() => fixture.close())

  const latest = (revision: number) => ({ latest: () => Promise.resolve(revision) })

  it('waits until the cache has them', async () => {
    const waiting = catchUp(latest(2), fixture.cache, forever)
    await fixture.write('a/n/x', '1')
    await fixture.write('a/n/x', '2')
    await waiting
    assert.equal(fixture.cache.revision, 2)
  })

  it('gets 503 and not the error of a version that the client asked for, when the cache is late', async () => {
    await assert.rejects(catchUp(latest(2), fixture.cache, forever, 10), {
      code: 503,
      reason: 'ServiceUnavailable',
      message:
        'the server has not received the newest changes from etcd within 0.01 seconds: it has resourceVersion 0 of 2',
    })
  })
})
