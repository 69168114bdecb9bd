import assert from 'node:assert/strict'
import type { Reply, Sent } from '../../support/client.ts'
import {
  betterInViews,
  betterTogether,
  expect,
  merge,
  namespaces,
  post,
  put,
  remove,
  type Target,
} from '../fixture.ts'

/** Rules of built-in kinds (rules.md 2.54 to 2.56, 3.39 to 3.41 and 4.34). */
export function builtinCases(target: () => Target): void {
  let ns = ''
  before(async () => {
    ns = await target().namespace()
  })
  const at = (path: string, sent?: Sent): Promise<Reply> => target().client(path, sent)
  const core = (resource: string): string => `${namespaces}/${ns}/${resource}`
  const leases = (): string => `/apis/coordination.k8s.io/v1/namespaces/${ns}/leases`
  const lease = (name: string, spec: object) => ({
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name },
    spec,
  })

  betterInViews(target, 'are created by a PUT where that is usual (3.10, 3.23)', async () => {
    const made = await expect(201, at(`${leases()}/put`, put(lease('put', { holderIdentity: 'me' }))))
    assert.match(made.metadata.uid ?? '', /^[0-9a-f-]{36}$/)
    await expect(200, at(`${leases()}/put`, put({ ...made, spec: { holderIdentity: 'you' } })))
    const claiming = { ...lease('other', {}), metadata: { name: 'other', uid: 'u' } }
    assert.equal((await expect(409, at(`${leases()}/other`, put(claiming)))).reason, 'Conflict')
  })

  it('have times in UTC, in seconds or microseconds (3.39)', async () => {
    const spec = { acquireTime: '2026-01-01T01:00:00.500000+01:00', renewTime: '2026-01-01T00:00:00.123456Z' }
    const made = await expect(201, at(leases(), post(lease('timed', spec))))
    assert.deepEqual(made.spec, { ...spec, acquireTime: '2026-01-01T00:00:00.500000Z' })
    const { message } = await expect(400, at(leases(), post(lease('odd', { renewTime: 'soon' }))))
    assert.equal(
      message,
      'Lease in version "v1" cannot be handled as a Lease: parsing time "soon" as "2006-01-02T15:04:05.000000Z07:00": cannot parse "soon" as "2006"',
    )
  })

  it('keep bytes as base64, and drop stringData (3.41)', async () => {
    const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' }, type: 'example.com/t' }
    const made = await expect(
      201,
      at(core('secrets'), post({ ...secret, data: { a: 'AP8=' }, stringData: { b: 'x' } })),
    )
    assert.deepEqual(made.data, { a: 'AP8=', b: 'eA==' })
    assert.ok(!('stringData' in made))
    const broken = { ...secret, metadata: { name: 't' }, data: { a: '!' } }
    const { message } = await expect(400, at(core('secrets'), post(broken)))
    assert.match(message ?? '', /illegal base64 data at input byte 0$/)
    const named = async (type: string) =>
      (await expect(200, at(`${core('secrets')}?fieldSelector=type%3D${type}`))).items?.length
    assert.deepEqual([await named('example.com/t'), await named('Opaque')], [1, 0])
  })

  betterTogether(target, 'are events that are found by what they are about (4.34)', async () => {
    const event = {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name: 'e', namespace: ns },
      involvedObject: { kind: 'Widget', namespace: ns, name: 'a', uid: 'u' },
      reason: 'Seen',
      type: 'Normal',
      source: { component: 'test' },
      reportingComponent: 'tester',
    }
    await expect(201, at(core('events'), post(event)))
    const found = async (...terms: readonly string[]) =>
      (await expect(200, at(`${core('events')}?fieldSelector=${encodeURIComponent(terms.join(','))}`))).items
        ?.length
    for (const term of [
      'involvedObject.kind=Widget',
      'involvedObject.name=a',
      'involvedObject.uid=u',
      'reason=Seen',
      'type=Normal',
      'source=test',
      'reportingComponent=tester',
    ])
      assert.deepEqual([await found(term), await found(term, 'involvedObject.name=b')], [1, 0], term)
  })

  betterInViews(target, 'say where a value of another type is (2.38, 5.9)', async () => {
    const map = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'm' } }
    const why = 'json: cannot unmarshal number into Go struct field ConfigMap.data of type string'
    const { message } = await expect(400, at(core('configmaps'), post({ ...map, data: { a: 1 } })))
    assert.equal(message, `ConfigMap in version "v1" cannot be handled as a ConfigMap: ${why}`)
    await expect(201, at(core('configmaps'), post(map)))
    const patched = await expect(422, at(`${core('configmaps')}/m`, merge({ data: { a: 1 } })))
    assert.match(patched.message ?? '', new RegExp(`^ "" is invalid: patch: Invalid value: "\\{.*": ${why}$`))
  })

  it('are namespaces that stay (2.56)', async () => {
    for (const name of ['default', 'kube-system']) {
      const reply = await at(`${namespaces}/${name}`, remove({ dryRun: ['All'] }))
      if (reply.status === 404) continue
      const { message } = await expect(403, Promise.resolve(reply))
      assert.equal(message, `namespaces "${name}" is forbidden: this namespace may not be deleted`)
    }
  })
}
