import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { issueAuthority, issueServing } from '../../../cmd/certificates/certificates.ts'
import type { KubeObject } from '../../../framework/meta/object.ts'
import { createAddressPolicy } from '../../../framework/net/addresspolicy.ts'
import { configMap, configMaps, refusal, type TestTenant, testTenant } from '../../testing/tenant.ts'

const group = 'admissionregistration.k8s.io'
const megabyte = Buffer.alloc(1024 * 1024, ' ')

/** The response of a review with this uid. */
type Answer = (response: ServerResponse, uid: string) => void

const saying =
  (said: object): Answer =>
  (response, uid) =>
    void response.end(
      JSON.stringify({
        kind: 'AdmissionReview',
        apiVersion: 'admission.k8s.io/v1',
        response: { uid, allowed: true, ...said },
      }),
    )

const patching = (text: string): Answer =>
  saying({ patchType: 'JSONPatch', patch: Buffer.from(text).toString('base64') })

/** Writes until the server closes the connection. */
const endless: Answer = response => {
  const more = () => {
    while (!response.destroyed && response.write(megabyte));
  }
  response.on('drain', more)
  more()
}

const adding = (path: string, value: unknown): Answer =>
  patching(JSON.stringify([{ op: 'add', path, value }]))

const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth)
const deep = `[{"op":"add","path":"/data","value":${nested(200_000)}}]`
const bomb = JSON.stringify([
  { op: 'add', path: '/data', value: { a: 'x'.repeat(1000) } },
  ...Array.from({ length: 40 }, (_, i) => ({ op: 'copy', from: '/data', path: `/data/${i}` })),
])
const large = JSON.stringify([
  { op: 'add', path: '/data', value: { a: 'x'.repeat(1_600_000) } },
  { op: 'copy', from: '/data/a', path: '/data/b' },
])
const texts = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, '']))
const members = JSON.stringify([{ op: 'add', path: '/data', value: texts(50_001) }])
const together = JSON.stringify([
  { op: 'add', path: '/data', value: texts(49_500) },
  ...Array.from({ length: 501 }, (_, i) => ({ op: 'add', path: `/data/l${i}`, value: '' })),
])
const finalizers = JSON.stringify([
  { op: 'add', path: '/metadata/finalizers', value: Object.keys(texts(10_001)) },
])
const many = JSON.stringify(Array.from({ length: 10_001 }, () => ({ op: 'remove', path: '/data' })))

/** What a webhook can send instead of a review, and what the user gets. */
const hostile: Readonly<Record<string, readonly [Answer, RegExp]>> = {
  'no end': [endless, /failed calling webhook .*the response is too large$/],
  'a redirect': [
    response => void response.writeHead(307, { location: '/stolen' }).end(),
    /failed calling webhook .*the server responded with the status code 307/,
  ],
  'a closed connection': [response => void response.destroy(), /failed calling webhook/],
  'a large head': [
    response => void response.writeHead(200, { x: 'x'.repeat(100_000) }).end(),
    /failed calling webhook/,
  ],
  'deep JSON': [response => void response.end(nested(2_000_000)), /failed calling webhook .*invalid/],
  'a long uid': [
    (response, uid) => saying({ uid: uid + 'x'.repeat(1_000_000) })(response, uid),
    /failed calling webhook .*expected response.uid=.*, got "/,
  ],
  'no review': [response => void response.end('null'), /failed calling webhook .*invalid/],
  'a deep patch': [patching(deep), /failed calling webhook .*response.patch/],
  'many values': [
    saying({ warnings: Array(20_000).fill('') }),
    /failed calling webhook .*the response is not JSON, or is too large$/,
  ],
  'a patch that is none': [patching('{"a":1}'), /error decoding patch/],
  'a patch of numbers': [patching('[1]'), /error decoding patch/],
  'a patch that grows': [patching(bomb), /the copies of a JSON patch may not exceed/],
  'a patch with a large result': [patching(large), /3145728 characters after the webhook /],
  'a patch to labels that are none': [
    adding('/metadata/labels', 5),
    /"x\..* has patched is invalid: json: cannot unmarshal number into Go struct field ObjectMeta\.metadata\.labels/,
  ],
  'a patch to managedFields of numbers': [
    adding('/metadata/managedFields', [5]),
    /has patched is invalid: json: cannot unmarshal number/,
  ],
  'a patch that removes the metadata': [
    adding('/metadata', 'text'),
    /has patched is invalid: json: cannot unmarshal string/,
  ],
  'a patch to data of another type': [
    adding('/data', { a: { b: 1 } }),
    /has patched is invalid: json: cannot unmarshal object into Go struct field ConfigMap\.data of type string/,
  ],
  'a patch to another kind': [
    adding('/kind', 'Secret'),
    /has patched is invalid: no kind "Secret" is registered for version "v1"/,
  ],
  'a patch to another version': [
    adding('/apiVersion', 'v2'),
    /has patched is invalid: the API version in the data \(v2\) does not match/,
  ],
  'a patch to a text': [adding('', 'text'), /has patched is invalid: json: cannot unmarshal string/],
  'a patch to another namespace': [
    adding('/metadata/namespace', 'other'),
    /the namespace of the provided object does not match the namespace sent on the request/,
  ],
  'a patch with many members': [patching(members), /failed calling webhook .*response.patch/],
  'a patch that leaves many members': [
    patching(together),
    /limit of one object is 50000 members: data, after the webhook /,
  ],
  'a patch that leaves many finalizers': [
    patching(finalizers),
    /limit is 10000 finalizers: metadata.finalizers, after the webhook /,
  ],
  'a patch of many steps': [patching(many), /allowed maximum operations in a JSON patch is 10000/],
}

describe('a webhook of a tenant that answers with', function () {
  this.timeout(20_000)
  let server: Server
  let tenant: TestTenant
  let clientConfig: object
  const asked: string[] = []
  const answers = new Map<string, Answer>(
    Object.entries(hostile).map(([what, [answer]]) => [`/${encodeURIComponent(what)}`, answer]),
  )
  const at = (what: string) => ({ ...clientConfig, url: `${url}/${encodeURIComponent(what)}` })
  let url = ''

  before(async () => {
    const authority = issueAuthority()
    const { certificate: cert, key } = issueServing(authority, ['127.0.0.1'])
    server = createServer({ cert, key }, async (request, response) => {
      const { pathname } = new URL(request.url ?? '', 'https://x')
      asked.push(pathname)
      response.on('error', () => undefined)
      const review = JSON.parse(Buffer.concat(await request.toArray()).toString()) as {
        request: { uid: string }
      }
      answers.get(pathname)?.(response, review.request.uid)
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`
    clientConfig = { caBundle: Buffer.from(authority.certificate).toString('base64') }
    tenant = await testTenant({ webhookAddresses: createAddressPolicy({ allow: ['127.0.0.1'] }) })
  })
  after(async () => {
    server.closeAllConnections()
    server.close()
    await tenant.shard.stop()
  })

  let count = 0
  /** Creates a ConfigMap for which only this webhook is called. */
  async function created(what: string, more: object = {}): Promise<KubeObject> {
    const name = `a${++count}`
    const kind = 'MutatingWebhookConfiguration'
    const webhook = {
      name: `${name}.example.com`.replace(/^/, 'x.'),
      clientConfig: at(what),
      rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }],
      matchConditions: [{ name: 'mine', expression: `object.metadata.name == '${name}'` }],
      sideEffects: 'None',
      admissionReviewVersions: ['v1'],
      ...more,
    }
    await tenant.put({ group, version: 'v1', resource: 'mutatingwebhookconfigurations' }, {
      apiVersion: `${group}/v1`,
      kind,
      metadata: { name },
      webhooks: [webhook],
    } as KubeObject)
    return tenant.put(configMaps, configMap(name))
  }

  for (const [what, [, why]] of Object.entries(hostile))
    it(`${what} fails the write, and nothing else`, async () => {
      const { message = '' } = await refusal(created(what))
      assert.match(message, why)
      assert.ok(message.length < 40_000)
      assert.ok(!asked.includes('/stolen'))
      await tenant.put(configMaps, configMap(`after${count}`))
    })

  it('system fields changes none of them', async () => {
    const forged = {
      uid: 'forged',
      creationTimestamp: '2001-01-01T00:00:00Z',
      deletionTimestamp: '2001-01-01T00:00:00Z',
      deletionGracePeriodSeconds: 5,
      resourceVersion: '77',
      generation: 7,
      selfLink: '/x',
    }
    const steps = Object.entries(forged).map(([field, value]) => ({
      op: 'add',
      path: `/metadata/${field}`,
      value,
    }))
    const others = [
      { op: 'add', path: '/metadata/annotations/kcp.io~1cluster', value: 'root' },
      { op: 'add', path: '/data', value: { a: 'b' } },
    ]
    answers.set('/forged', patching(JSON.stringify([...steps, ...others])))
    const { metadata, data } = await created('forged')
    assert.deepEqual(data, { a: 'b' })
    for (const [field, value] of Object.entries(forged))
      assert.notEqual(metadata[field as keyof typeof metadata], value, field)
    assert.match(metadata.uid ?? '', /^[\da-f-]{36}$/)
    assert.equal(metadata.deletionTimestamp, undefined)
    assert.equal(metadata.annotations?.['kcp.io/cluster'], 'c1')
  })

  it('authorities without end is not called', async () => {
    answers.set('/authorities', saying({}))
    const { certificate } = issueAuthority()
    const of = (count: number) => Buffer.from(certificate.repeat(count)).toString('base64')
    const named = (count: number) => ({ clientConfig: { ...at('authorities'), caBundle: of(count) } })
    const { message } = await refusal(created('authorities', named(151)))
    assert.match(
      message ?? '',
      /failed calling webhook .*the caBundle must have at most 150 certificates, but has 151$/,
    )
    // Those of others.
    assert.match(
      (await refusal(created('authorities', named(200)))).message ?? '',
      /failed calling webhook .*certificate/,
    )
    assert.ok(!asked.includes('/authorities'))
  })

  it('many annotations puts a hundred into the audit log', async () => {
    const auditAnnotations = Object.fromEntries(
      Array.from({ length: 1_000 }, (_, i) => [`k${i}`, 'x'.repeat(2_000)]),
    )
    answers.set('/many', saying({ auditAnnotations: { ...auditAnnotations, k0: 'x'.repeat(1_000_000) } }))
    await created('many')
    const noted = [...tenant.notes].filter(([key]) => /\/k\d+$/.test(key))
    assert.equal(noted.length, 100)
    assert.ok(noted.every(([, value]) => value.length < 40_000))
  })

  it('too many, odd or empty warnings and annotations adds little to the response', async () => {
    const warnings = [...Array.from({ length: 5_000 }, () => ''), { a: 1 }, null, 'x'.repeat(100_000)]
    answers.set('/odd', saying({ warnings, auditAnnotations: ['a', { b: 1 }] }))
    await created('odd')
    answers.set('/none', saying({ warnings: 'text', auditAnnotations: 1 }))
    await created('none')
  })

  for (const [what, details, passed] of [
    ['no list of causes', { causes: 5, name: 'a' }, { name: 'a' }],
    [
      'no causes',
      { causes: [1, null, { message: 5, field: {} }] },
      { causes: Array(3).fill({ message: '' }) },
    ],
    [
      'many causes',
      { causes: Array(4_000).fill({ field: 'f' }) },
      { causes: Array(100).fill({ message: '', field: 'f' }) },
    ],
    ['no texts', { name: {}, kind: ['x'], uid: 1 }, {}],
    ['a header as the time', { retryAfterSeconds: '1\r\nx: y' }, {}],
    ['no details', 5, undefined],
  ] as const)
    it(`details with ${what} passes on what can be encoded`, async () => {
      const status = { code: 422, message: 'x'.repeat(1_000_000), details }
      answers.set('/details', saying({ allowed: false, status }))
      const got = await refusal(created('details'))
      assert.deepEqual(got.details, passed)
      assert.ok((got.message ?? '').length < 40_000)
    })

  for (const code of [0, 200, 399, 600, 1e9, -1, 'x', null, 422.5])
    it(`the status code ${code} refuses the write with a code of HTTP`, async () => {
      answers.set('/code', saying({ allowed: false, status: { code, message: 'no' } }))
      const { code: got } = await refusal(created('code'))
      assert.ok(Number.isInteger(got) && Number(got) >= 400 && Number(got) < 600, String(got))
    })
})
