import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { newServiceAccountKey } from '../../../cmd/certificates/serviceaccountkey.ts'
import type { KubeObject } from '../../../framework/index.ts'
import { clusterGadgets } from '../../support/crds.ts'
import { eventually, type Kubectl, kubectlFor, type Outcome } from '../../support/oriel.ts'
import { type Shards, startShards, tenantOn } from '../../support/servers/shards.ts'
import { type AnyReview, serveWebhooks, type Webhooks, webhookFlags } from '../../support/servers/webhooks.ts'
import { temporaryDirectory } from '../../support/temporary.ts'
import { apply, bind, bindingOf, exportApi, type Tenant } from '../../support/tenants.ts'

const group = 'across.example.com'
const gadget = (name: string): string =>
  JSON.stringify({ apiVersion: `${group}/v1`, kind: 'Gadget', metadata: { name } })

const admission = (kind: string, name: string, more: object): KubeObject => ({
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind,
  metadata: { name },
  ...more,
})
const rules = [{ apiGroups: [group], apiVersions: ['*'], operations: ['CREATE'], resources: ['gadgets'] }]
const noEvil: readonly KubeObject[] = [
  admission('ValidatingAdmissionPolicy', 'no-evil', {
    spec: {
      matchConstraints: { resourceRules: rules },
      validations: [{ expression: "object.metadata.name != 'evil'", message: 'evil gadgets are refused' }],
    },
  }),
  admission('ValidatingAdmissionPolicyBinding', 'no-evil', {
    spec: { policyName: 'no-evil', validationActions: ['Deny'] },
  }),
]
const hook = (clientConfig: object): KubeObject =>
  admission('ValidatingWebhookConfiguration', 'ask', {
    webhooks: [
      { name: 'ask.example.com', clientConfig, rules, sideEffects: 'None', admissionReviewVersions: ['v1'] },
    ],
  })

/** Creates objects with this name until a creation has the wanted outcome; successful ones are deleted again. */
const createdUntil = (
  { kubectl }: Tenant,
  name: string,
  isWanted: (outcome: Outcome) => boolean,
): Promise<Outcome> =>
  eventually(async () => {
    const outcome = await kubectl.try(['create', '-f', '-'], gadget(name))
    if (outcome.code === 0) await kubectl(['delete', `gadgets.${group}`, name])
    return outcome
  }, isWanted)

describe('two shards', function () {
  this.timeout(180_000)
  let shards: Shards
  let webhooks: Webhooks
  let root: Kubectl
  let provider: Tenant
  let consumer: Tenant

  before(async () => {
    const folder = await temporaryDirectory('acrossshards')
    await writeFile(join(folder, 'sa.key'), newServiceAccountKey())
    const keys = ['--service-account-signing-key-file', join(folder, 'sa.key')]
    webhooks = await serveWebhooks<AnyReview & { request: { name: string } }>({
      '/ask': ({ request: { name } }) => ({ allowed: name !== 'asked', status: { message: 'it was asked' } }),
    })
    shards = await startShards(folder, [...webhookFlags, ...keys])
    root = kubectlFor(shards.root, 'root')
    await root(['wait', '--for=create', '--timeout=60s', 'shard/beta'])
    provider = await tenantOn(shards, 'root', 'provider')
    consumer = await tenantOn(shards, 'beta', 'consumer')
    await exportApi(provider, clusterGadgets(group), [])
    await eventually(
      () => consumer.kubectl.try(['apply', '-f', '-'], JSON.stringify(bindingOf(provider, group, []))),
      ({ code }) => code === 0,
    )
    await bind(consumer, bindingOf(provider, group, []))
  })
  after(async () => {
    webhooks.close()
    await Promise.all([shards.root.stop(), shards.beta.stop()])
  })

  it('apply the policies of a provider to its consumers on the other shard, until they are deleted', async () => {
    await apply(provider.kubectl, ...noEvil)
    const { stderr } = await createdUntil(consumer, 'evil', ({ code }) => code !== 0)
    assert.match(stderr, /ValidatingAdmissionPolicy 'no-evil' .*denied request: evil gadgets are refused/)
    await consumer.kubectl(['create', '-f', '-'], gadget('good'))
    const here = await consumer.kubectl(['get', 'validatingadmissionpolicies', '-o', 'name'])
    assert.equal(here, '', 'copies are not visible')
    await provider.kubectl(['delete', 'validatingadmissionpolicybinding', 'no-evil'])
    await createdUntil(consumer, 'evil', ({ code }) => code === 0)
  })

  it('call the webhooks of a provider for its consumers on the other shard', async () => {
    await apply(provider.kubectl, hook({ url: `${webhooks.url}/ask`, caBundle: webhooks.caBundle }))
    const { stderr } = await createdUntil(consumer, 'asked', ({ code }) => code !== 0)
    assert.match(stderr, /admission webhook "ask\.example\.com" denied the request: it was asked/)
  })

  const whoami = (kubectl: Kubectl, token: string): Promise<Outcome> =>
    kubectl.try(['--token', token, 'auth', 'whoami', '-o', 'jsonpath={.status.userInfo}'])

  for (const home of ['root', 'beta'] as const)
    it(`accept tokens of service accounts of a logical cluster on shard ${home}, until they are deleted`, async () => {
      const [near, far] = home === 'root' ? [provider, consumer] : [consumer, provider]
      await near.kubectl(['create', 'serviceaccount', 'robot'])
      const token = (await near.kubectl(['create', 'token', 'robot'])).trim()
      const access = ['create', 'clusterrolebinding', 'reviews', '--clusterrole=system:kcp:workspace:access']
      await far.kubectl([...access, '--group=system:authenticated'])
      const reviewed = async (): Promise<{ authenticated?: boolean; user?: { username: string } }> => {
        const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec: { token } }
        const args = ['create', '-f', '-', '-o', 'json']
        const { status } = JSON.parse(await far.kubectl(args, JSON.stringify(review)))
        return status
      }
      const { user } = await eventually(reviewed, ({ authenticated }) => authenticated === true)
      assert.equal(user?.username, 'system:serviceaccount:default:robot')
      const [head, claims, signature] = token.split('.')
      const forged = [head, claims, `${signature?.slice(0, -8)}AAAAAAAA`].join('.')
      assert.match((await whoami(far.kubectl, forged)).stderr, /Unauthorized|logged in/)
      await near.kubectl(['delete', 'serviceaccount', 'robot'])
      await eventually(reviewed, ({ authenticated }) => authenticated !== true)
    })

  it('bind default exports of the other shard by the name of its logical cluster', async () => {
    const defaultAPIBindings = [{ path: provider.cluster, export: group }]
    await apply(root, {
      apiVersion: 'tenancy.kcp.io/v1alpha1',
      kind: 'WorkspaceType',
      metadata: { name: 'gadgeteer' },
      spec: { extend: { with: [{ name: 'universal', path: 'root' }] }, defaultAPIBindings },
    } as KubeObject)
    const tenant = await tenantOn(shards, 'beta', 'defaults', { type: { name: 'gadgeteer', path: 'root' } })
    await eventually(
      () => tenant.kubectl.try(['create', '-f', '-'], gadget('first')),
      ({ code }) => code === 0,
    )
  })

  it('list in a slice with a partition the URLs of its shards only', async () => {
    const partition = (matchLabels: object): KubeObject => ({
      apiVersion: 'topology.kcp.io/v1alpha1',
      kind: 'Partition',
      metadata: { name: 'part' },
      spec: { selector: { matchLabels } },
    })
    const slice = {
      apiVersion: 'apis.kcp.io/v1alpha1',
      kind: 'APIExportEndpointSlice',
      metadata: { name: 'partial' },
      spec: { export: { path: provider.path, name: group }, partition: 'part' },
    }
    const near = await tenantOn(shards, 'root', 'near')
    await bind(near, bindingOf(provider, group, []))
    await apply(provider.kubectl, partition({ name: 'beta' }), slice)
    const urls = async (name: string): Promise<readonly string[]> => {
      const query = 'jsonpath={.status.endpoints[*].url}'
      const text = await provider.kubectl(['get', 'apiexportendpointslice', name, '-o', query])
      return text.split(' ').filter(url => url !== '')
    }
    await eventually(
      () => urls(group),
      found => found.length === 2,
    )
    const [only] = await eventually(
      () => urls('partial'),
      found => found.length > 0,
    )
    assert.equal(only?.includes(`:${new URL(shards.beta.url).port}/`), true)
    assert.equal((await urls('partial')).length, 1)
  })
})
