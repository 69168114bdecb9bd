import assert from 'node:assert/strict'
import fc from 'fast-check'
import { StatusError } from '../meta/errors.ts'
import { parseRequestInfo } from './requestinfo.ts'

const parse = (method: string, url: string) => {
  const [path = '', query = ''] = url.split('?')
  return parseRequestInfo({ method, path, query: new URLSearchParams(query) })
}

/** verb group/version resource[:identity][/sub] namespace|name */
function short(method: string, url: string): string {
  const info = parse(method, url)
  if (!info.isResource) return `${info.verb} ${info.path}`
  const resource = `${info.resource}${info.identity ? `:${info.identity}` : ''}`
  const sub = info.subresource ? `/${info.subresource}` : ''
  return `${info.verb} ${info.group}/${info.version} ${resource}${sub} ${info.namespace}|${info.name}`
}

describe('request info', () => {
  const cases: readonly [method: string, url: string, expected: string][] = [
    ['GET', '/', 'get /'],
    ['GET', '/api', 'get /api'],
    ['GET', '/api/v1', 'get /api/v1'],
    ['GET', '/apis/', 'get /apis'],
    ['GET', '/apis/g/v1', 'get /apis/g/v1'],
    ['POST', '/version/', 'post /version'],
    ['GET', '/openapi/v3/apis/g/v1', 'get /openapi/v3/apis/g/v1'],
    ['GET', '/api/v1/pods', 'list /v1 pods |'],
    ['GET', '/api/v1/pods?watch', 'watch /v1 pods |'],
    ['GET', '/api/v1/pods?watch=', 'watch /v1 pods |'],
    ['GET', '/api/v1/pods?watch=0', 'list /v1 pods |'],
    ['GET', '/api/v1/pods?watch=FALSE', 'list /v1 pods |'],
    ['HEAD', '/api/v1/pods?watch=1', 'list /v1 pods |'],
    ['GET', '/api/v1/namespaces', 'list /v1 namespaces |'],
    ['GET', '/api/v1/namespaces/foo', 'get /v1 namespaces foo|foo'],
    ['GET', '/api/v1/namespaces/foo?watch=1', 'get /v1 namespaces foo|foo'],
    ['PUT', '/api/v1/namespaces/foo/status', 'update /v1 namespaces/status foo|foo'],
    ['PUT', '/api/v1/namespaces/foo/finalize', 'update /v1 namespaces/finalize foo|foo'],
    ['GET', '/api/v1/namespaces/foo/pods', 'list /v1 pods foo|'],
    ['DELETE', '/api/v1/namespaces/foo/pods/', 'deletecollection /v1 pods foo|'],
    ['DELETE', '/api/v1/namespaces/foo/pods/a', 'delete /v1 pods foo|a'],
    ['PATCH', '/apis/g/v1/namespaces/foo/widgets/a/status', 'patch g/v1 widgets/status foo|a'],
    ['POST', '/apis/g/v1/namespaces/foo/widgets', 'create g/v1 widgets foo|'],
    ['PUT', '/apis/g/v1/widgets', 'update g/v1 widgets |'],
    ['GET', '/apis/g/v1/widgets:abc', 'list g/v1 widgets:abc |'],
    ['GET', '/apis/rbac/v1/clusterroles/system:admin', 'get rbac/v1 clusterroles |system:admin'],
    ['GET', '/api/v1/watch/pods', 'watch /v1 pods |'],
    ['GET', '/api/v1/watch/namespaces/ns/pods/a', 'watch /v1 pods ns|a'],
    ['GET', '/apis/g/v/watch/widgets', 'watch g/v widgets |'],
    ['GET', '/api/v1/pods?fieldSelector=metadata.name%3Da', 'list /v1 pods |a'],
    ['GET', '/api/v1/pods?fieldSelector=spec.x%3Db,metadata.name%3D%3Da', 'list /v1 pods |a'],
    ['GET', '/api/v1/pods?fieldSelector=metadata.name!%3Da', 'list /v1 pods |'],
    ['GET', '/api/v1/pods?fieldSelector=metadata.name%3D..', 'list /v1 pods |'],
    ['GET', '/api/v1/pods?fieldSelector=spec.x%3Da%5C,metadata.name%3Da', 'list /v1 pods |'],
  ]
  for (const [method, url, expected] of cases) {
    it(`of ${method} ${url}`, () => assert.equal(short(method, url), expected))
  }

  const refused: readonly [method: string, url: string, code: number, message: RegExp][] = [
    ['GET', '/api/v1/watch', 400, /unable to determine kind and namespace from url, \/api\/v1\/watch/],
    ['POST', '/api/v1/watch/pods', 405, /post is not supported on resources of kind "pods"/],
    ['OPTIONS', '/apis/g/v1/widgets', 405, /options is not supported on resources of kind "widgets.g"/],
    ['GET', '/api/v1/proxy/pods/a', 404, /could not find/],
    ['GET', '/api/v1/namespaces//pods', 404, /could not find/],
    ['GET', '/apis/g/v1/widgets/a/status/b', 404, /could not find/],
    ['GET', '/apis/g/v1/widgets:', 400, /invalid resource "widgets:": missing identity/],
    ['GET', '/api/v1/pods/a%2Fb', 400, /"a%2Fb" is malformed/],
    ['GET', '/api/v1/pods/%2e%2e', 400, /is malformed/],
    ['GET', '/api/v1/pods/..', 400, /is malformed/],
    ['GET', '/api/v1/pods/%00', 400, /is malformed/],
    ['GET', '/api/v1/pods/%zz', 400, /is malformed/],
  ]
  for (const [method, url, code, message] of refused) {
    it(`refuses ${method} ${url}`, () => {
      assert.throws(
        () => parse(method, url),
        (e: unknown) => {
          assert.ok(e instanceof StatusError)
          assert.equal(e.code, code)
          assert.match(e.message, message)
          return true
        },
      )
    })
  }

  it('is read or refused with a 4xx, whatever the path', () => {
    const piece = fc.constantFrom(
      'api',
      'apis',
      'v1',
      'namespaces',
      'watch',
      'a',
      '%',
      '%2F',
      '..',
      '',
      'w:i',
      'status',
    )
    fc.assert(
      fc.property(
        fc.array(piece, { maxLength: 9 }),
        fc.constantFrom('GET', 'POST', 'TRACE'),
        (parts, method) => {
          try {
            parse(method, `/${parts.join('/')}`)
          } catch (e) {
            assert.ok(e instanceof StatusError && e.code < 500)
          }
        },
      ),
    )
  })
})
