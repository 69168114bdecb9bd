import type { KubeObject } from '../../framework/index.ts'
import { clusterGadgets } from '../support/crds.ts'
import { eventually, type Kubectl } from '../support/oriel.ts'
import type { Answers, Webhooks } from '../support/servers/webhooks.ts'
import { openWebhookScene, type WebhookScene } from '../support/servers/webhookscene.ts'
import { apply, bind, bindingOf, exportApi, type Tenant } from '../support/tenants.ts'

// Admission webhooks through the running server (rules.md 2.58).

interface Review {
  readonly kind: string
  readonly apiVersion: string
  readonly request: {
    readonly uid: string
    readonly operation: string
    readonly dryRun: boolean
    readonly name?: string
    readonly options: { readonly kind: string }
    readonly object: KubeObject
    readonly oldObject: KubeObject | null
    readonly userInfo: { readonly username: string }
  }
}

const jsonPatch = (...operations: readonly object[]) => ({
  allowed: true,
  patchType: 'JSONPatch',
  patch: Buffer.from(JSON.stringify(operations)).toString('base64'),
})

/** By path: the responses about a ConfigMap. */
const answers: Answers<Review> = {
  '/deny': () => ({ allowed: false, status: { message: 'not today', code: 418, reason: 'Teapot' } }),
  '/mute': () => ({ allowed: false }),
  '/label': () => jsonPatch({ op: 'add', path: '/metadata/labels', value: { made: 'here' } }),
  '/uid': () => ({ uid: 'other', allowed: true }),
  '/broken': () => 503,
  '/slow': () => 'silence',
  '/tell': ({ request: { name = 'no name', options, object, oldObject } }) => {
    const [now, before] = [object, oldObject].map(each => each?.metadata.resourceVersion ?? 'none')
    return { allowed: false, status: { message: `${options.kind} of ${name}: ${now} after ${before}` } }
  },
  '/look': ({ request: { object, operation } }) => ({
    allowed: false,
    status: { message: `${operation} in ${object.metadata.annotations?.['kcp.io/cluster']}` },
  }),
}

const configMap = (name: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'default' },
  data: { a: '1' },
})

describe('webhooks', function () {
  this.timeout(120_000)
  let scene: WebhookScene
  let tenant: Tenant
  let provider: Tenant
  let kubectl: Kubectl
  let webhooks: Webhooks

  before(async () => {
    scene = await openWebhookScene('webhooks', answers)
    ;({ tenant, provider, kubectl, webhooks } = scene)
  })
  after(() => scene?.close())

  /** A configuration of one webhook for ConfigMaps whose name begins with the path. */
  const configuration = (kind: string, path: string, more: object = {}): KubeObject => ({
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind,
    metadata: { name: path },
    webhooks: [
      {
        name: `${path}.example.com`,
        clientConfig: {
          url: `${webhooks.url}/${path}`,
          caBundle: webhooks.caBundle,
        },
        rules: [
          {
            apiGroups: [''],
            apiVersions: ['v1'],
            operations: ['CREATE', 'UPDATE'],
            resources: ['configmaps'],
          },
        ],
        matchConditions: [{ name: 'mine', expression: `object.metadata.name.startsWith('${path}')` }],
        sideEffects: 'None',
        admissionReviewVersions: ['v1'],
        timeoutSeconds: 1,
        ...more,
      },
    ],
  })

  const validating = (path: string, more: object = {}) =>
    apply(kubectl, configuration('ValidatingWebhookConfiguration', path, more))

  /** Creates ConfigMaps until the response satisfies the condition. */
  async function answersWith(path: string, text: string, args: readonly string[] = []): Promise<void> {
    let count = 0
    await eventually(
      () =>
        kubectl(['create', '-f', '-', ...args], JSON.stringify(configMap(`${path}-${count++}`))).catch(
          String,
        ),
      answer => answer.includes(text),
    )
  }

  it('refuse with their own message, code and reason', async () => {
    await validating('deny')
    await answersWith('deny', 'admission webhook "deny.example.com" denied the request: not today')
    await validating('mute')
    await answersWith('mute', 'admission webhook "mute.example.com" denied the request without explanation')
  })

  it('receive the logical cluster of an object', async () => {
    await validating('look')
    await answersWith('look', `denied the request: CREATE in ${tenant.cluster}`)
  })

  it('receive versions, patches as updates, and no name in a collection', async () => {
    await apply(kubectl, configMap('told'))
    const version = await kubectl(['get', 'configmap', 'told', '-o', 'jsonpath={.metadata.resourceVersion}'])
    const operations = ['UPDATE', 'DELETE']
    const rules = [{ apiGroups: [''], apiVersions: ['v1'], operations, resources: ['configmaps'] }]
    const expression = "oldObject.metadata.name == 'told'"
    await validating('tell', { rules, matchConditions: [{ name: 'told', expression }] })
    const says = (args: readonly string[], text: string) =>
      eventually(
        () => kubectl(args).catch(String),
        answer => answer.includes(`denied the request: ${text}`),
      )
    const label = ['label', 'configmap', 'told', `a=b`, '--overwrite']
    await says(label, `UpdateOptions of told: ${version} after ${version}`)
    await says(['delete', 'configmap', 'told'], `DeleteOptions of told: none after ${version}`)
    const collection = '/api/v1/namespaces/default/configmaps?fieldSelector=metadata.name%3Dtold'
    const raw = ['delete', '--raw', `/clusters/${tenant.path}${collection}`]
    await says(raw, `DeleteOptions of no name: none after ${version}`)
    await kubectl(['delete', 'validatingwebhookconfiguration', 'tell'])
  })

  it('change objects', async () => {
    await apply(kubectl, configuration('MutatingWebhookConfiguration', 'label'))
    let count = 0
    await eventually(
      async () => {
        const name = `label-${count++}`
        await apply(kubectl, configMap(name))
        return kubectl(['get', 'configmap', name, '-o', 'jsonpath={.metadata.labels.made}'])
      },
      label => label === 'here',
    )
  })

  it('follow failurePolicy', async () => {
    await validating('uid')
    await answersWith(
      'uid',
      'failed calling webhook "uid.example.com": received invalid webhook response: expected response.uid=',
    )
    await validating('broken')
    await answersWith(
      'broken',
      'failed calling webhook "broken.example.com": failed to call webhook: the server ',
    )
    await validating('broken', { failurePolicy: 'Ignore' })
    await answersWith('broken', 'created')
    await validating('slow')
    await answersWith('slow', 'context deadline exceeded')
  })

  it('of an export receive bound resources, and those of the consumer do not', async () => {
    const group = 'bound.example.com'
    await exportApi(provider, clusterGadgets(group), [])
    await bind(tenant, bindingOf(provider, group, []))
    const rules = [
      { apiGroups: [group], apiVersions: ['v1'], operations: ['CREATE'], resources: ['gadgets'] },
    ]
    const make = (name: string): Promise<string> =>
      apply(kubectl, { apiVersion: `${group}/v1`, kind: 'Gadget', metadata: { name } }).catch(String)
    const more = { rules, matchConditions: [] }
    await apply(kubectl, configuration('ValidatingWebhookConfiguration', 'deny', more))
    await eventually(
      () => make('own'),
      said => said.includes('created') || said.includes('unchanged'),
    )
    await apply(provider.kubectl, configuration('ValidatingWebhookConfiguration', 'look', more))
    let count = 0
    await eventually(
      () => make(`bound-${count++}`),
      said => said.includes(`denied the request: CREATE in ${tenant.cluster}`),
    )
  })

  it('report why they cannot be called: the certificate has an unknown authority', async () => {
    const clientConfig = { url: `${webhooks.url}/deny`, caBundle: '' }
    await validating('effects', { clientConfig, sideEffects: 'NoneOnDryRun', failurePolicy: 'Fail' })
    await answersWith(
      'effects',
      'failed calling webhook "effects.example.com": failed to call webhook: Post ',
      ['--dry-run=server'],
    )
  })
})
