import assert from 'node:assert/strict'
import { pathPattern } from '../../framework/request/path.ts'
import { ofConsumer } from './path.ts'

const path = ofConsumer(pathPattern('/services/apiresourceschema/:consumer'))
const parsed = (rest: string) => {
  const found = path.parse(`/services/apiresourceschema/${rest}`)
  return found && `${found.params.consumer} ${found.cluster} ${found.rest}`
}

describe('the URL of apiresourceschema', () => {
  it('names the consumer, whatever follows', () => {
    assert.equal(parsed('abc/clusters/*/apis/g/v1'), 'abc abc /apis/g/v1')
    assert.equal(parsed('abc/clusters/abc/apis/g/v1'), 'abc abc /apis/g/v1')
    assert.equal(parsed('abc/apis/g/v1'), 'abc abc /apis/g/v1')
    assert.equal(parsed('abc'), 'abc abc /')
    assert.equal(parsed('system:admin/openapi/v3'), 'system:admin system:admin /openapi/v3')
  })

  it('does not match other clusters, *, paths and malformed URLs', () => {
    for (const rest of [
      'abc/clusters/def/apis',
      'abc/clusters/root:abc/apis',
      'abc/clusters//apis',
      '*/clusters/*/apis',
      'root:abc/clusters/*/apis',
      '/clusters/*/apis',
      '',
      'a%2Fb/apis',
      'abc/clusters/%2A%2F/apis',
    ])
      assert.equal(parsed(rest), undefined, rest)
  })

  it('is written without a cluster', () =>
    assert.equal(path.format({ consumer: 'abc' }), '/services/apiresourceschema/abc'))
})
