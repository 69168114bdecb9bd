import assert from 'node:assert/strict'
import type { RequestInfo } from '../request/requestinfo.ts'
import { anonymous } from '../request/user.ts'
import { locate } from './locate.ts'

const request = {
  user: anonymous,
  info: { isResource: false, verb: 'get', path: '/api' } as unknown as RequestInfo,
  lifetime: { signal: new AbortController().signal },
}

describe('the logical cluster of a URL', () => {
  const known = ['root', 'root:a', 'root:a:b']
  let asked: string[]
  let workspaces: string[]
  const backend = {
    resolve: (path: string) => {
      asked.push(path)
      return known.includes(path) ? `of ${path}` : undefined
    },
    authorizer: {
      authorize: async (_user: unknown, action: { cluster: string; resource?: { name: string } }) => {
        workspaces.push(`${action.resource?.name} in ${action.cluster}`)
        return { effect: 'allow' as const, reason: '' }
      },
    },
  } as unknown as Parameters<typeof locate>[0]
  const missing = (path: string) => assert.rejects(async () => locate(backend, path, request), { code: 404 })

  beforeEach(() => {
    asked = []
    workspaces = []
  })

  it('is looked up by its path', async () => {
    assert.equal(await locate(backend, 'root:a', request), 'of root:a')
  })

  it('is not found by users who can get the workspace in its deepest existing parent', async () => {
    await missing('root:a:b:c:d')
    await missing('root:x')
    assert.deepEqual(workspaces, ['c in of root:a:b', 'x in of root'])
  })

  it('is looked up with few steps, whatever anybody sends', async () => {
    await missing(`root:a${':x'.repeat(5_000)}`)
    assert.ok(asked.length <= 5, `${asked.length} paths`)
  })
})
