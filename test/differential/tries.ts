import type { Random } from '../model/random.ts'
import { type Fields, type Maker, names, sends } from './making.ts'
import { mutated } from './mutation.ts'
import { namespace } from './step.ts'
import { definition, schemas } from './triedschemas.ts'

// Objects that are only sent with dryRun=All, because controllers would change them sooner on one server than on the
// other.

/** A valid object. */
interface Tried {
  readonly path: string
  readonly body: Fields
}

const policy = (spec: object): Tried => ({
  path: '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies',
  body: {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicy',
    metadata: { name: 'tried' },
    spec,
  },
})

const rules = [
  {
    apiGroups: ['none.example.com'],
    apiVersions: ['v1'],
    operations: ['CREATE', 'UPDATE'],
    resources: ['nones'],
  },
]

const policies: readonly Tried[] = [
  policy({
    failurePolicy: 'Fail',
    matchConstraints: { resourceRules: rules },
    variables: [{ name: 'size', expression: 'object.spec.size' }],
    matchConditions: [{ name: 'named', expression: 'has(object.metadata.name)' }],
    validations: [
      { expression: 'variables.size > 1', message: 'too small', reason: 'Invalid' },
      { expression: 'object.spec.size < 10', messageExpression: "'too large: ' + string(object.spec.size)" },
    ],
    auditAnnotations: [{ key: 'size', valueExpression: 'string(object.spec.size)' }],
  }),
  ...[
    'object.x +',
    '1 + "a"',
    'unknown.x',
    'object.spec.size',
    'true',
    '"text"',
    'object.a.b.c == params.x',
    '',
  ].map(expression => policy({ matchConstraints: { resourceRules: rules }, validations: [{ expression }] })),
  {
    path: '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings',
    body: {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingAdmissionPolicyBinding',
      metadata: { name: 'tried' },
      spec: {
        policyName: 'tried',
        validationActions: ['Deny', 'Audit'],
        matchResources: { namespaceSelector: { matchLabels: { a: 'b' } } },
      },
    },
  },
]

const webhook: Tried = {
  path: '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations',
  body: {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingWebhookConfiguration',
    metadata: { name: 'tried' },
    webhooks: [
      {
        name: 'tried.example.com',
        clientConfig: { url: 'https://example.com/tried' },
        rules,
        sideEffects: 'None',
        admissionReviewVersions: ['v1'],
        failurePolicy: 'Ignore',
        timeoutSeconds: 5,
        matchConditions: [{ name: 'named', expression: 'has(object.metadata.name)' }],
      },
    ],
  },
}

const builtIns: readonly Tried[] = [
  {
    path: `/api/v1/namespaces/${namespace}/resourcequotas`,
    body: {
      apiVersion: 'v1',
      kind: 'ResourceQuota',
      metadata: { name: 'tried' },
      spec: {
        hard: { pods: '3', 'requests.cpu': '1500m', 'count/nones.none.example.com': '2' },
        scopes: ['NotTerminating'],
      },
    },
  },
  {
    path: '/api/v1/namespaces',
    body: {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: 'tried', labels: { a: 'b' } },
    },
  },
  {
    path: '/apis/rbac.authorization.k8s.io/v1/clusterroles',
    body: {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRole',
      metadata: { name: 'tried' },
      rules: [
        { apiGroups: [''], resources: ['secrets'], verbs: ['get'], resourceNames: ['a'] },
        { nonResourceURLs: ['/metrics'], verbs: ['get'] },
      ],
    },
  },
  {
    path: '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings',
    body: {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRoleBinding',
      metadata: { name: 'tried' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'a' }],
    },
  },
  {
    path: `/api/v1/namespaces/${namespace}/secrets`,
    body: {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'tried', annotations: { 'kubernetes.io/service-account.name': 'default' } },
      type: 'kubernetes.io/service-account-token',
      data: { a: 'YQ==' },
      stringData: { b: 'b' },
    },
  },
]

const apis = (version: string, kind: string, plural: string, name: string, spec: object): Tried => ({
  path: `/apis/apis.kcp.io/${version}/${plural}`,
  body: { apiVersion: `apis.kcp.io/${version}`, kind, metadata: { name }, spec },
})

const ofKcp: readonly Tried[] = [
  apis('v1alpha2', 'APIExport', 'apiexports', 'tried', {
    resources: [
      { group: 'example.com', name: 'tries', schema: 'v1.tries.example.com', storage: { crd: {} } },
    ],
    permissionClaims: [{ group: '', resource: 'configmaps', verbs: ['get'] }],
  }),
  apis('v1alpha2', 'APIBinding', 'apibindings', 'tried', {
    reference: { export: { path: 'root', name: 'tenancy.kcp.io' } },
  }),
  apis('v1alpha1', 'APIResourceSchema', 'apiresourceschemas', 'v1.tries.example.com', {
    group: 'example.com',
    scope: 'Namespaced',
    names: { kind: 'Try', plural: 'tries', singular: 'try', listKind: 'TryList' },
    versions: definition.spec.versions.map(({ schema, ...version }) => ({
      ...version,
      schema: schema.openAPIV3Schema,
    })),
  }),
]

const definitions: Tried = {
  path: '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
  body: definition,
}

/** Objects whose errors kcp reports together with those of metadata: they are sent without mutations of metadata. */
const whole: readonly Tried[] = [...policies, webhook]
const parts: readonly Tried[] = [...builtIns, ...ofKcp]

const asked = (tried: Tried, body: unknown): ReturnType<Maker> => ({
  about: `tried ${String(tried.body.kind)}`,
  path: `${tried.path}?dryRun=All`,
  sent: () => sends('POST', body),
})

/** Valid bodies, with one or two mistakes. */
const withMistakes = (body: unknown, random: Random): unknown => {
  const once = random.chance(0.1) ? body : mutated(body, random)
  return random.chance(0.3) ? mutated(once, random) : once
}

export const tried: Maker = (_, random) => {
  if (random.chance(0.3)) {
    const what = random.pick(whole)
    return asked(what, what.body)
  }
  const what = random.pick(parts)
  return asked(what, withMistakes(what.body, random))
}

/** Definitions with invalid schemas. */
export const triedDefinition: Maker = (_, random) => {
  const [version, ...others] = definition.spec.versions
  const properties = { ...version?.schema.openAPIV3Schema.properties, tried: random.pick(schemas) }
  const schema = { openAPIV3Schema: { type: 'object', properties } }
  return asked(definitions, {
    ...definition,
    spec: { ...definition.spec, versions: [{ ...version, schema }, ...others] },
  })
}

const tokens: readonly object[] = [
  {},
  { expirationSeconds: 3600 },
  { expirationSeconds: 60 },
  { expirationSeconds: 4294967297 },
  { expirationSeconds: 'x' },
  { audiences: ['a', 'b'] },
  { audiences: 'a' },
  { boundObjectRef: { kind: 'Secret', apiVersion: 'v1', name: 'none' } },
  { boundObjectRef: { kind: 'Node', apiVersion: 'v1', name: 'none' } },
  { boundObjectRef: { kind: 'ConfigMap', apiVersion: 'v1', name: 'a' } },
  { boundObjectRef: { kind: 'Secret', apiVersion: 'v1', name: 'a', uid: 'another' } },
  { unknown: 1 },
]

/** Token requests for existing and missing accounts. */
export const token: Maker = (_, random) => {
  const account = random.pick([...names, 'none'])
  const metadata = random.pick<object>([
    {},
    {},
    { name: account },
    { name: 'another' },
    { namespace: 'another' },
  ])
  const body = {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    metadata,
    spec: random.pick(tokens),
    ...(random.chance(0.1) && { kind: 'Other' }),
  }
  return {
    about: 'tried TokenRequest',
    path: `/api/v1/namespaces/${namespace}/serviceaccounts/${account}/token${random.pick(['', '?dryRun=All'])}`,
    sent: () => sends('POST', body),
  }
}
