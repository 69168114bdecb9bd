import assert from 'node:assert/strict'
import { inOneVersion } from '../../../framework/contract/admission.ts'
import { silent } from '../../../framework/contract/log.ts'
import { loopbackContext } from '../../../framework/contract/loopback.ts'
import { requestOf } from './evaluation.ts'

describe('requestOf', () => {
  it('has the versions of the rule and of the request', () => {
    const group = 'example.com'
    const signal = new AbortController().signal
    const resource = { group, version: 'v1', resource: 'widgets' }
    const ctx = loopbackContext({ verb: 'create', resource, cluster: 'c1', signal, log: silent })
    const object = { apiVersion: 'example.com/v2', kind: 'Widget', metadata: { name: 'a' } }
    const {
      kind,
      requestKind,
      resource: seen,
      requestResource,
    } = requestOf({
      ctx,
      namespaceOf: () => undefined,
      version: 'v2',
      request: {
        operation: 'CREATE',
        group,
        resource: 'widgets',
        ...inOneVersion('v1'),
        subresource: '',
        key: { cluster: 'c1', namespace: '', name: 'a' },
        dryRun: false,
        object,
      },
    })
    assert.deepEqual(kind, { group, version: 'v2', kind: 'Widget' })
    assert.deepEqual(requestKind, { group, version: 'v1', kind: 'Widget' })
    assert.deepEqual(seen, { group, version: 'v2', resource: 'widgets' })
    assert.deepEqual(requestResource, { group, version: 'v1', resource: 'widgets' })
  })
})
