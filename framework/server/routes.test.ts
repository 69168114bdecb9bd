import assert from 'node:assert/strict'
import fc from 'fast-check'
import type { VirtualWorkspace } from '../contract/workspace.ts'
import { pathPattern } from '../request/path.ts'
import { createRoutes, resolveUrl } from './routes.ts'

describe('the URL of a view of another program', () => {
  const hintOf = (path: string): string => {
    const url = { method: 'GET', path, query: new URLSearchParams() }
    const found = resolveUrl([], url, { crew: 'ask the captain' })
    return 'hint' in found ? found.hint : ''
  }

  it('has a sentence that names the program', () =>
    assert.equal(
      hintOf('/services/crew/clusters/*/api/v1/configmaps'),
      ': this program does not serve the view "crew": ask the captain',
    ))

  it('has none for an unknown view', () => {
    for (const path of [
      '/services/crews/clusters/*/api',
      '/services/toString/clusters/*/api',
      '/clusters/crew/api',
    ])
      assert.equal(hintOf(path), '')
  })
})

describe('routes that remember URLs', () => {
  const workspaces = ['', '/services/crew/:path/:name'].map(
    pattern => ({ name: pattern, path: pathPattern(pattern) }) as VirtualWorkspace,
  )
  const method = fc.constantFrom('GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS')
  const prefix = fc.constantFrom('/clusters/root:a', '/services/crew/root/b/clusters/*', '')
  const pods = ['/api/v1/namespaces/default/pods', '/api/v1/pods', '/api/v1/pods:hash', '/api/v1/watch/pods']
  const others = ['/apis/g/v1/widgets', '/api/v1/namespaces', '/api/v1/namespaces/default', '/version', '']
  const segment = fc.constantFrom('a', 'b', 'b%20c', 'namespaces', 'pods', 'status', 'watch', '%2F', '..', '')
  const query = fc.constantFrom('', '?watch=1', '?fieldSelector=metadata.name%3Dpods', '?fieldManager=a')
  const url = fc
    .tuple(prefix, fc.constantFrom(...pods, ...others), fc.array(segment, { maxLength: 2 }), query)
    .map(([before, below, rest, search]) => ({ path: [before + below, ...rest].join('/'), search }))

  const outcome = <T>(read: () => T): T | string => {
    try {
      return structuredClone(read())
    } catch (error) {
      return (error as Error).message
    }
  }
  const plain = (found: object): object => ({ ...found, workspace: undefined })

  it('find what parsing each URL finds', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(method, url), { minLength: 20, maxLength: 60 }), asked => {
        const routes = createRoutes(workspaces)
        for (const [verb, { path, search }] of asked) {
          const incoming = { method: verb, path, search, query: new URLSearchParams(search) }
          const found = outcome(() => plain(routes(incoming)))
          assert.deepEqual(
            found,
            outcome(() => plain(resolveUrl(workspaces, incoming))),
          )
        }
      }),
      { numRuns: 300 },
    )
  })
})
