import assert from 'node:assert/strict'
import type { KubeObject } from '../../../framework/index.ts'
import { type Client, clientOf, type Sent } from '../../support/client.ts'
import { certificates } from '../../support/crds.ts'
import { discard } from '../../support/oriel.ts'
import { type Standalone, startStandalone } from '../../support/servers/standalone.ts'
import { apply, bind, bindingOf, createWorkspaces, exportApi, type Tenant } from '../../support/tenants.ts'
import { configAt } from '../../support/watcher.ts'

const group = '/apis/cert-manager.io/v1'
const namespace = `${group}/namespaces/default`
const table = 'application/json;as=Table;v=v1;g=meta.k8s.io'
const accept = (type: string): Sent => ({ headers: { accept: type } })
const asUser = (sent: Sent = {}): Sent => ({
  ...sent,
  headers: { ...sent.headers, 'impersonate-user': 'nobody-in-particular' },
})

const certificate = (name: string, more: object = {}): KubeObject => ({
  apiVersion: 'cert-manager.io/v1',
  kind: 'Certificate',
  metadata: { name, namespace: 'default', labels: { name }, ...more },
  spec: { secretName: name, dnsNames: [`${name}.example.com`], issuerRef: { name: 'ca' } },
})

const send = (method: string, body: object | string, type = 'application/json'): Sent => ({
  method,
  body,
  headers: { 'content-type': type, 'user-agent': 'same/1' },
})
const patch = (kind: string, body: object | string): Sent => send('PATCH', body, `application/${kind}`)

/** Replaces values that differ between runs. */
const normal = (text: string): string =>
  text
    .replace(/"resourceVersion":\s*"[^"]*"/g, '"resourceVersion":"…"')
    .replace(/\bresourceVersion: \S+/g, 'resourceVersion: …')
    .replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'uid')
    .replace(/\d{4}-\d\d-\d\dT[\d:]+(\.\d+)?Z/g, 'T')
    .replace(/"<?(\d+[smhd])+>?"/g, '"age"')
    .replace(/127\.0\.0\.1:\d+|localhost:\d+/g, 'host')

type Asked = readonly [path: string, sent?: Sent]

/** Over all logical clusters, and below the consumer's. */
const reads: readonly Asked[] = [
  ['/api'],
  ['/apis'],
  [group],
  ['/apis', accept('application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList')],
  ['/openapi/v3'],
  [`/openapi/v3${group}`],
  ['/openapi/v2'],
  ['/version'],
  [`${group}/certificates`],
  [`${group}/certificates?limit=2`],
  [`${group}/certificates?labelSelector=name%3Da`],
  [`${group}/certificates?labelSelector=name+in+(a,b),!other`],
  [`${group}/certificates?fieldSelector=metadata.name%3Db`],
  [`${group}/certificates?resourceVersion=0`],
  [`${group}/certificates`, accept(table)],
  [`${group}/certificates`, accept('application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io')],
  [`${group}/certificates`, accept('application/yaml')],
  [`${group}/certificates?pretty=true`],
  [`${group}/certificates?watch=1&timeoutSeconds=1`],
  [
    `${group}/certificates?watch=1&timeoutSeconds=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true`,
  ],
  [`${group}/certificates?watch=1&timeoutSeconds=1`, accept(table)],
  [`${namespace}/certificates`],
  ['/api/v1/configmaps'],
  ['/api/v1/configmaps?labelSelector=shared'],
  ['/api/v1/secrets'],
  ['/apis/apis.kcp.io/v1alpha2/apibindings'],
  [`${group}/certificates?labelSelector=a%3D%3D%3D`],
  [`${group}/certificates?fieldSelector=spec.secretName%3Dx`],
  [`${group}/certificates?resourceVersion=abc`],
  [`${group}/certificates?resourceVersion=9000000000000000`],
  [`${group}/certificates?limit=x`],
  [`${group}/certificates?continue=nonsense`],
  [`${group}/certificates`, accept('application/xml')],
  [`${group}/nothings`],
  ['/apis/nobody.example.com/v1/things'],
  ['/healthz'],
  ['/metrics'],
  [`${group}/certificates`, asUser()],
  [group, asUser()],
]

/** In order: each depends on the writes before it. */
const writes: readonly Asked[] = [
  [`${namespace}/certificates?dryRun=All`, send('POST', certificate('dry'))],
  [`${namespace}/certificates/dry`],
  [`${namespace}/certificates`, send('POST', certificate('w'))],
  [`${namespace}/certificates`, send('POST', certificate('w'))],
  [`${namespace}/certificates/w`],
  [`${namespace}/certificates/w`, accept(table)],
  [`${namespace}/certificates/w`, send('PUT', certificate('w'))],
  [`${namespace}/certificates/w`, send('PUT', certificate('w', { resourceVersion: '1' }))],
  [`${namespace}/certificates/w`, send('PUT', certificate('other'))],
  [`${namespace}/certificates/w`, patch('merge-patch+json', { spec: { secretName: 'merged' } })],
  [
    `${namespace}/certificates/w`,
    patch('json-patch+json', [{ op: 'replace', path: '/spec/secretName', value: 'json' }]),
  ],
  [
    `${namespace}/certificates/w`,
    patch('json-patch+json', [{ op: 'test', path: '/spec/secretName', value: 'x' }]),
  ],
  [`${namespace}/certificates/w`, patch('strategic-merge-patch+json', {})],
  [`${namespace}/certificates/w`, patch('merge-patch+json', { spec: { dnsNames: 7 } })],
  [`${namespace}/certificates/w`, patch('merge-patch+json', '{')],
  [`${namespace}/certificates/w/status`, patch('merge-patch+json', { status: { revision: 3 } })],
  [`${namespace}/certificates/w/status`],
  [`${namespace}/certificates/w/scale`],
  [`${namespace}/certificates/w?fieldManager=me`, patch('apply-patch+yaml', certificate('w'))],
  [`${namespace}/certificates/w?fieldManager=me&force=1`, patch('apply-patch+yaml', certificate('w'))],
  [`${namespace}/certificates/w`, patch('apply-patch+yaml', certificate('w'))],
  [`${namespace}/certificates/applied?fieldManager=me`, patch('apply-patch+yaml', certificate('applied'))],
  [
    `${namespace}/certificates/applied?fieldManager=me`,
    patch('apply-patch+yaml', certificate('applied', { labels: { another: 'x' } })),
  ],
  [`${namespace}/certificates/applied`],
  [`${namespace}/certificates/none`, patch('merge-patch+json', {})],
  [`${namespace}/certificates/none`, send('DELETE', '')],
  [`${namespace}/certificates/w`, send('DELETE', { preconditions: { uid: 'x' } })],
  [`${namespace}/certificates/w?dryRun=All`, send('DELETE', '')],
  [`${namespace}/certificates/w`, send('DELETE', '')],
  [`${namespace}/certificates?labelSelector=name%3Dapplied`, send('DELETE', '')],
  [`${namespace}/certificates/applied`, send('DELETE', '')],
  [`${namespace}/certificates`, send('POST', '{')],
  [`${namespace}/certificates`, send('POST', { ...certificate('x'), kind: 'Other' })],
  [`${namespace}/certificates?fieldValidation=Strict`, send('POST', { ...certificate('x'), what: 1 })],
  [`${namespace}/certificates`, send('POST', certificate('Not A Name'))],
  ['/api/v1/namespaces/default/configmaps', send('POST', { metadata: { name: 'c' }, data: { a: 'b' } })],
  ['/api/v1/namespaces/default/configmaps/c'],
  ['/api/v1/namespaces/default/configmaps/c', send('PUT', { metadata: { name: 'c' }, data: { a: 'c' } })],
  ['/api/v1/namespaces/default/configmaps/c', patch('strategic-merge-patch+json', { data: { d: 'e' } })],
  ['/api/v1/namespaces/default/configmaps/c', send('DELETE', '')],
  ['/api/v1/namespaces/default/secrets', send('POST', { metadata: { name: 's' } })],
  [`${namespace}/certificates`, asUser(send('POST', certificate('x')))],
]

describe('a view in the process of the shard and in front of it', function () {
  this.timeout(180_000)
  let standalone: Standalone
  let inside: Client
  let outside: Client
  let consumer: Tenant
  let path: string

  before(async () => {
    standalone = await startStandalone()
    const tenants = await createWorkspaces(standalone, ['provider', 'one', 'two'])
    const [provider, ...consumers] = tenants as [Tenant, ...Tenant[]]
    consumer = consumers[0] as Tenant
    const claim = { group: '', resource: 'configmaps', verbs: ['*'], state: 'Accepted' }
    const selective = { ...claim, selector: { matchLabels: { shared: 'yes' } } }
    const name = await exportApi(provider, certificates(), [{ group: '', resource: 'configmaps' }])
    for (const each of consumers) {
      await bind(each, bindingOf(provider, name, [selective]))
      await apply(each.kubectl, ...['a', 'b', 'c'].map(n => certificate(n)))
    }
    path = `/services/apiexport/${provider.cluster}/${name}/clusters`
    const client = (url: string) => clientOf(configAt(standalone, url, 'shard-base'))
    inside = await client(standalone.shard.url)
    outside = await client(standalone.viewsUrl)
  })
  after(async () => {
    inside?.close()
    outside?.close()
    await discard(standalone)
  })

  async function same([asked, sent]: Asked, cluster: string): Promise<void> {
    const [here, there] = await Promise.all(
      [inside, outside].map(client => client(`${path}/${cluster}${asked}`, sent)),
    )
    compare(here, there)
  }

  function compare(here: Awaited<ReturnType<Client>> | undefined, there: typeof here): void {
    assert.equal(normal(there?.text ?? ''), normal(here?.text ?? ''))
    assert.deepEqual(
      [there?.status, there?.headers['content-type']],
      [here?.status, here?.headers['content-type']],
    )
  }

  for (const asked of reads) {
    const [what, { headers = {} } = {}] = asked
    it(`return the same: ${what} ${Object.values(headers)}`, async () => {
      await same(asked, '*')
      await same(asked, consumer.cluster)
    })
  }

  it('return the same for missing objects', async () => {
    for (const cluster of ['none', 'root:none', '', '*/x', '**'])
      await same([`${group}/certificates`], cluster)
  })

  it('write the same, in order', async () => {
    for (const [client, other] of [
      [inside, outside],
      [outside, inside],
    ] as const) {
      const answers = []
      for (const [asked, sent] of writes)
        answers.push(await client(`${path}/${consumer.cluster}${asked}`, sent))
      for (const [i, [asked, sent]] of writes.entries()) {
        const answer = await other(`${path}/${consumer.cluster}${asked}`, sent)
        try {
          compare(answers[i], answer)
        } catch (error) {
          throw new Error(`${sent?.method ?? 'GET'} ${asked}: ${(error as Error).message}`)
        }
      }
    }
  })
})
