import assert from 'node:assert/strict'
import fc from 'fast-check'
import { isClusterName, isClusterPath, overlaps, pathPattern } from './path.ts'
import { isPathSegment } from './segments.ts'

const segment = fc.string({ unit: 'grapheme', minLength: 1 }).filter(isPathSegment)
const cluster = fc.oneof(fc.constant('*'), fc.stringMatching(/^[a-z0-9]{1,16}$/), fc.constant('system:admin'))

describe('path patterns', () => {
  const apiexport = pathPattern('/services/apiexport/:path/:name')

  it('parse the paths that they format', () => {
    fc.assert(
      fc.property(segment, segment, cluster, (path, name, c) => {
        const url = `${apiexport.format({ path, name })}/clusters/${c}/api/v1`
        assert.deepEqual(apiexport.parse(url), { params: { path, name }, cluster: c, rest: '/api/v1' })
      }),
    )
  })

  it('format the paths that they parse', () => {
    fc.assert(
      fc.property(fc.webPath({ size: 'small' }), tail => {
        const parsed = apiexport.parse(`/services/apiexport${tail}/p/n/clusters/*`)
        if (parsed === undefined) return
        const again = apiexport.parse(`${apiexport.format(parsed.params)}/clusters/${parsed.cluster}`)
        assert.deepEqual(again?.params, parsed.params)
      }),
    )
  })

  it('keep colons readable', () => {
    const initializing = pathPattern('/services/initializingworkspaces/:initializer')
    assert.equal(
      initializing.format({ initializer: 'root:universal' }),
      '/services/initializingworkspaces/root:universal',
    )
  })

  it('refuse values that would not be parsed back', () => {
    for (const name of ['', '.', '..', 'a/b', 'a%2Fb', 'a\0', '\ud800']) {
      assert.throws(() => apiexport.format({ path: 'root', name }), /cannot be a segment/)
    }
  })

  it('decode percent-encoding correctly', () => {
    for (const name of ['a%2Fb', '%2e%2e', '%2E', '%00', '%zz', '%', '%252F', '']) {
      assert.equal(apiexport.parse(`/services/apiexport/p/${name}/clusters/*/api`), undefined, name)
    }
  })

  it('take no workspace paths and no empty cluster in a view', () => {
    for (const c of ['root:org', '', '**', 'Root', 'a_b', 'user:x']) {
      assert.equal(apiexport.parse(`/services/apiexport/p/n/clusters/${c}/api`), undefined, c)
    }
    assert.equal(apiexport.parse('/services/apiexport/p/n/clusters/system:admin')?.rest, '/')
    assert.equal(apiexport.parse('/services/apiexport/p/n'), undefined)
  })

  it('accept any cluster but an empty one at /clusters/', () => {
    const plain = pathPattern('')
    assert.deepEqual(plain.parse('/clusters/root:org:ws/api'), {
      params: {},
      cluster: 'root:org:ws',
      rest: '/api',
    })
    assert.equal(plain.parse('/clusters/'), undefined)
    assert.equal(plain.parse('/clusters//api'), undefined)
    assert.equal(plain.format({}), '')
  })

  it('report errors of the pattern', () => {
    assert.throws(() => pathPattern('services'), /must start with/)
    assert.throws(() => pathPattern('/a/'), /malformed segment ""/)
    assert.throws(() => pathPattern('/a/:b-c'), /malformed segment ":b-c"/)
    assert.throws(() => pathPattern('/a/:b/:b'), /names ":b" twice/)
    assert.throws(() => pathPattern('/clusters/:b'), /must not contain "clusters"/)
  })

  it('detect overlapping patterns', () => {
    assert.ok(overlaps('/s/:a', '/s/b'))
    assert.ok(overlaps('/s/:a/x', '/s/b/:c'))
    assert.ok(!overlaps('/s/a', '/s/b'))
    assert.ok(!overlaps('/s/:a', '/s/:a/:b'))
    assert.ok(overlaps('', ''))
  })
})

describe('cluster names', () => {
  it("have no colon, unless they are the system's", () => {
    assert.ok(isClusterName('root'))
    assert.ok(isClusterName('system:admin'))
    assert.ok(!isClusterName('root:org'))
    assert.ok(isClusterPath('root:org'))
    for (const bad of ['*', '', 'a:', ':a', 'A', 'a..b', 'a'.repeat(64)]) assert.ok(!isClusterPath(bad), bad)
  })
})
