import assert from 'node:assert/strict'
import { open } from '../../test/support/wire.ts'
import { as, plain, serving, start } from '../testing/serving.ts'

describe('a server with few seats', () => {
  const scene = serving()

  it('has only so many watches of a user, and others have theirs', async () => {
    await start(scene, [plain(scene)], { limits: { reading: 1, mutating: 1, watching: 2 } })
    const path = `${scene.server.url}/clusters/root/apis/example.com/v1/widgets?watch=1`
    const first = await open('HTTP/1.1', path, as('reader'))
    assert.equal(first.status, 200)
    const second = await open('HTTP/1.1', path, as('reader'))
    assert.deepEqual([second.status, second.headers['retry-after']], [429, '1'])
    const other = await open('HTTP/1.1', path, as('admin'))
    assert.equal(other.status, 200)
    first.leave()
    other.leave()
  })
})
