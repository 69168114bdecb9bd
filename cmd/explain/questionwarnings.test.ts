import assert from 'node:assert/strict'
import type { JsonClient } from '../../framework/net/jsonclient.ts'
import { findResource } from './resourcequestion.ts'

/** A server with ConfigMaps and, in a group, widgets. `status`: of its discovery. */
const server =
  (status: number): JsonClient =>
  async path => {
    const versions = (resource: string) => [{ version: 'v1', resources: [{ resource, scope: 'Namespaced' }] }]
    const items =
      path === '/api'
        ? [{ metadata: {}, versions: versions('configmaps') }]
        : [{ metadata: { name: 'example.com' }, versions: versions('widgets') }]
    return { status, body: { items } }
  }

const warnings = async (verb: string, resource: string, status = 200): Promise<readonly string[]> =>
  (await findResource(server(status), { verb, resource }, {})).warnings

describe('the warnings about a question', () => {
  it('are those of kubectl auth can-i for unknown resources', async () => {
    const unknown = "the server doesn't have a resource type"
    assert.deepEqual(await warnings('get', 'nothings'), [`${unknown} 'nothings'`])
    assert.deepEqual(await warnings('get', 'nothings.example.com/a'), [
      `${unknown} 'nothings' in group 'example.com'`,
    ])
  })

  it('are those of kubectl auth can-i for unknown verbs', async () => {
    assert.deepEqual(await warnings('frob', 'configmaps'), ["verb 'frob' is not a known verb"])
    assert.deepEqual(await warnings('watch', '/metrics'), ["verb 'watch' is not a known verb"])
  })

  it('are not about what rules have besides the verbs and resources of requests', async () => {
    for (const [verb, resource] of [
      ['*', '*'],
      ['bind', 'configmaps'],
      ['initialize', 'widgets.example.com'],
      ['impersonate', 'users'],
      ['impersonate:user-info', 'userextras.authentication.k8s.io'],
      ['access', '/'],
    ] as const)
      assert.deepEqual(await warnings(verb, resource), [], `${verb} ${resource}`)
  })

  it('are not about resources when the server does not tell those that it has', async () => {
    assert.deepEqual(await warnings('get', 'nothings', 403), [])
  })
})
