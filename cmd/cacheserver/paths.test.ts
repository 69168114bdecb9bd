import assert from 'node:assert/strict'
import { askedPath } from './paths.ts'

describe('paths of a cache server', () => {
  const cases: Readonly<Record<string, string>> = {
    '/services/cache/shards/amber/healthz': '/healthz',
    '/services/cache/shards/*/livez': '/livez',
    '/services/cache/shards/amber/clusters/root/readyz': '/readyz',
    '/services/cache/readyz/ping?verbose': '/readyz/ping?verbose',
    '/services/cache/shards/amber/readyz?verbose=1': '/readyz?verbose=1',
    '/healthz': '/healthz',
  }
  for (const [url, path] of Object.entries(cases))
    it(`${url} is the health check ${path}`, () => assert.equal(askedPath(url), path))

  for (const url of [
    '/services/cache/shards/amber/metrics',
    '/services/cache/shards/amber/clusters/root/apis/apis.kcp.io/v1alpha2/apiexports',
    '/services/cache/shards/amber/clusters/root/apis/apis.kcp.io/v1alpha2/apiexports/healthz',
    '/services/cache/shards/AMBER/healthz',
    '/services/cache/shards/amber/healthzzz',
    '/services/cachehealthz',
    '/services/cache2/shards/amber/healthz',
  ])
    it(`${url} is unchanged`, () => assert.equal(askedPath(url), url))
})
