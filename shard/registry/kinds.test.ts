import assert from 'node:assert/strict'
import { atOnce } from '../../framework/json/json.ts'
import type { FieldError } from '../../framework/meta/errors.ts'
import type { KubeObject } from '../../framework/meta/object.ts'
import { canonicalQuota } from './canonicalquota.ts'
import {
  configMapErrors,
  mergeStringData,
  secretErrors as secretErrorSteps,
  withNamedSecrets,
} from './data.ts'
import {
  clusterRoleBindingErrors,
  clusterRoleErrors,
  completeBinding,
  roleBindingErrors,
  roleErrors,
} from './rbac.ts'
import { quotaErrors } from './resourcequota.ts'
import { leaseErrors } from './reststrategy.ts'

const object = (fields: object): KubeObject => ({
  apiVersion: 'v1',
  kind: 'K',
  metadata: { name: 'a' },
  ...fields,
})
const found = (errors: readonly FieldError[]): readonly string[] =>
  errors.map(({ type, field, detail }) => `${field} ${type.replace('FieldValue', '')}: ${detail}`)
const secretErrors = (secret: KubeObject): readonly FieldError[] => atOnce(secretErrorSteps(secret))

const base64 = (text: string): string => Buffer.from(text).toString('base64')

describe('rules of roles and bindings', () => {
  const group = 'rbac.authorization.k8s.io'
  const everything = { apiGroups: ['*'], resources: ['*'] }
  const roleRef = { apiGroup: group, kind: 'Role', name: 'r' }

  it('asks for verbs, groups and resources', () => {
    assert.deepEqual(found(roleErrors(object({ rules: [{}] }))), [
      'rules[0].verbs Required: verbs must contain at least one value',
      'rules[0].apiGroups Required: resource rules must supply at least one api group',
      'rules[0].resources Required: resource rules must supply at least one resource',
    ])
    assert.deepEqual(roleErrors(object({ rules: [{ verbs: ['get'], ...everything }] })), [])
    assert.deepEqual(roleErrors(object({})), [])
  })

  it('keeps URLs to ClusterRoles, and apart from resources', () => {
    const rules = [{ verbs: ['get'], nonResourceURLs: ['/x'], ...everything }]
    const mixed =
      'rules[0].nonResourceURLs Invalid: rules cannot apply to both regular resources and non-resource URLs'
    assert.deepEqual(found(clusterRoleErrors(object({ rules }))), [mixed])
    assert.deepEqual(found(roleErrors(object({ rules }))), [
      'rules[0].nonResourceURLs Invalid: namespaced rules cannot apply to non-resource URLs',
      mixed,
    ])
    assert.deepEqual(clusterRoleErrors(object({ rules: [{ verbs: ['get'], nonResourceURLs: ['/x'] }] })), [])
  })

  it('limits the rules of a role and the subjects of a binding', () => {
    const rules = Array(15_001).fill({ verbs: ['get'], ...everything })
    const tooMany = ['rules TooMany: must have at most 15000 items']
    assert.deepEqual(found(clusterRoleErrors(object({ rules }))), tooMany)
    assert.deepEqual(found(roleErrors(object({ rules }))), tooMany)
    const subjects = Array(5_001).fill({ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'a' })
    assert.deepEqual(found(roleBindingErrors(object({ roleRef, subjects }))), [
      'subjects TooMany: must have at most 5000 items',
    ])
  })

  it('requires a selector in an aggregation rule', () => {
    assert.deepEqual(found(clusterRoleErrors(object({ aggregationRule: {} }))), [
      'aggregationRule.clusterRoleSelectors Required: at least one clusterRoleSelector required if aggregationRule is non-nil',
    ])
  })

  it('lets a binding name a role that there can be, and nothing else', () => {
    assert.deepEqual(roleBindingErrors(object({ roleRef })), [])
    assert.deepEqual(found(clusterRoleBindingErrors(object({ roleRef }))), [
      'roleRef.kind NotSupported: supported values: "ClusterRole"',
    ])
    assert.deepEqual(found(roleBindingErrors(object({}))), [
      `roleRef.apiGroup NotSupported: supported values: "${group}"`,
      'roleRef.kind NotSupported: supported values: "Role", "ClusterRole"',
      'roleRef.name Required: ',
    ])
    const changed = { ...roleRef, name: 'other' }
    assert.deepEqual(found(roleBindingErrors(object({ roleRef: changed }), object({ roleRef }))), [
      'roleRef Invalid: cannot change roleRef',
    ])
  })

  it('accepts three kinds of subjects', () => {
    const errorsOf = (subject: object) =>
      found(
        clusterRoleBindingErrors(
          object({ roleRef: { ...roleRef, kind: 'ClusterRole' }, subjects: [subject] }),
        ),
      )
    assert.deepEqual(errorsOf({ kind: 'User', apiGroup: group, name: 'u' }), [])
    assert.deepEqual(errorsOf({ kind: 'ServiceAccount', name: 's' }), ['subjects[0].namespace Required: '])
    assert.deepEqual(errorsOf({ kind: 'Robot', name: 's' }), [
      'subjects[0].kind NotSupported: supported values: "ServiceAccount", "User", "Group"',
    ])
    assert.deepEqual(errorsOf({ kind: 'Group', apiGroup: 'x' }), [
      'subjects[0].name Required: ',
      `subjects[0].apiGroup NotSupported: supported values: "${group}"`,
    ])
  })

  it('fills in the group', () => {
    const completed = completeBinding(
      object({ roleRef: { kind: 'Role', name: 'r' }, subjects: [{ kind: 'User', name: 'u' }] }),
    )
    assert.deepEqual(completed.roleRef, { kind: 'Role', name: 'r', apiGroup: group })
    assert.deepEqual(completed.subjects, [{ kind: 'User', name: 'u', apiGroup: group }])
  })
})

describe('rules of ConfigMaps and Secrets', () => {
  it('takes keys that can be file names, once', () => {
    assert.deepEqual(configMapErrors(object({ data: { 'a.b_c-D': '' }, binaryData: { x: '' } })), [])
    assert.match(
      found(configMapErrors(object({ data: { 'a b': '' } })))[0] ?? '',
      /^data\[a b\] Invalid: a valid config key must/,
    )
    assert.deepEqual(found(configMapErrors(object({ data: { '..a': '' } }))), [
      "data[..a] Invalid: must not start with '..'",
    ])
    assert.deepEqual(found(configMapErrors(object({ data: { a: '' }, binaryData: { a: '' } }))), [
      'data[a] Invalid: duplicate of key present in binaryData',
    ])
  })

  it('keeps a mebibyte at most', () => {
    const half = 'x'.repeat(524_288)
    assert.deepEqual(configMapErrors(object({ data: { a: half }, binaryData: { b: base64(half) } })), [])
    assert.deepEqual(
      found(configMapErrors(object({ data: { a: half, c: 'x' }, binaryData: { b: base64(half) } }))),
      [' TooLong: may not be more than 1048576 bytes'],
    )
  })

  it('lets immutable data be', () => {
    const old = object({ data: { a: '1' }, immutable: true })
    assert.deepEqual(found(configMapErrors(object({ data: { a: '2' } }), old)), [
      'immutable Forbidden: field is immutable when `immutable` is set',
      'data Forbidden: field is immutable when `immutable` is set',
    ])
  })

  const secrets: readonly (readonly [type: string, good: object, missing: string])[] = [
    ['kubernetes.io/dockercfg', { '.dockercfg': base64('{}') }, 'data[.dockercfg] Required: '],
    [
      'kubernetes.io/dockerconfigjson',
      { '.dockerconfigjson': base64('{}') },
      'data[.dockerconfigjson] Required: ',
    ],
    ['kubernetes.io/basic-auth', { password: '' }, 'data[username] Required: '],
    ['kubernetes.io/ssh-auth', { 'ssh-privatekey': base64('k') }, 'data[ssh-privatekey] Required: '],
    ['kubernetes.io/tls', { 'tls.crt': '', 'tls.key': '' }, 'data[tls.crt] Required: '],
  ]
  for (const [type, data, missing] of secrets)
    it(`asks for the data of ${type}`, () => {
      assert.deepEqual(secretErrors(object({ type, data })), [])
      assert.equal(found(secretErrors(object({ type })))[0], missing)
    })

  it('wants JSON objects for registries, with the messages of Go', () => {
    const why = (json: string): string =>
      secretErrors(object({ type: 'kubernetes.io/dockercfg', data: { '.dockercfg': base64(json) } }))[0]
        ?.detail ?? ''
    assert.deepEqual(['{"a":1}', ' {}', 'null'].map(why), ['', '', ''])
    assert.deepEqual(['[]', '1', '"a"', 'true', '{', '['.repeat(300)].map(why), [
      'json: cannot unmarshal array into Go value of type map[string]interface {}',
      'json: cannot unmarshal number into Go value of type map[string]interface {}',
      'json: cannot unmarshal string into Go value of type map[string]interface {}',
      'json: cannot unmarshal bool into Go value of type map[string]interface {}',
      'unexpected end of JSON input',
      'exceeded max depth',
    ])
  })

  it('never prints the values of a secret', () => {
    const [error] = secretErrors(
      object({ type: 'kubernetes.io/dockercfg', data: { '.dockercfg': base64('password') } }),
    )
    assert.equal(error?.value, '<secret contents redacted>')
  })

  it('merges stringData into data', () =>
    assert.deepEqual(
      mergeStringData(object({ stringData: { a: 'x' }, data: { b: 'eQ==' } })),
      object({ data: { b: 'eQ==', a: 'eA==' } }),
    ))
})

describe('rules of leases', () => {
  it('wants times that pass and transitions that happened', () => {
    assert.deepEqual(leaseErrors(object({ spec: { leaseDurationSeconds: 15, leaseTransitions: 0 } })), [])
    assert.deepEqual(
      found(
        leaseErrors(
          object({ spec: { leaseDurationSeconds: 0, leaseTransitions: -1, preferredHolder: 'a' } }),
        ),
      ),
      [
        'spec.leaseDurationSeconds Invalid: must be greater than 0',
        'spec.leaseTransitions Invalid: must be greater than or equal to 0',
        'spec.preferredHolder Forbidden: may only be specified if `strategy` is defined',
      ],
    )
  })
})

describe('rules of quotas', () => {
  const quota = (hard: object) => object({ spec: { hard } })

  it('write quantities as Kubernetes does', () => {
    const read = { 'count/configmaps': 20, 'requests.cpu': '0.10', memory: '1024Ki', pods: ' 2k ' }
    assert.deepEqual(
      canonicalQuota(object({ spec: { hard: read, scopes: ['BestEffort'] }, status: { used: read } })),
      object({
        spec: {
          hard: { 'count/configmaps': '20', 'requests.cpu': '100m', memory: '1Mi', pods: '2k' },
          scopes: ['BestEffort'],
        },
        status: { used: { 'count/configmaps': '20', 'requests.cpu': '100m', memory: '1Mi', pods: '2k' } },
      }),
    )
  })

  const writtenAs: readonly (readonly [unknown, string])[] = [
    [1.5, '1500m'],
    [0.0001, '1m'],
    [12345678901234567890n, '12345678901234567890'],
    [null, '0'],
    ['1n', '1m'],
    ['-1n', '-1m'],
    ['999999999n', '1'],
    ['1.0005', '1001m'],
    ['0.0001Ki', '103m'],
    ['1e-9', '1e-3'],
  ]
  for (const [read, text] of writtenAs)
    it(`write ${read} as ${text}`, () =>
      assert.deepEqual(canonicalQuota(quota({ cpu: read })), quota({ cpu: text })))

  for (const read of ['many', true, {}, []])
    it(`do not take ${JSON.stringify(read)} for a quantity`, () =>
      assert.throws(() => canonicalQuota(quota({ pods: read })), {
        message:
          "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
      }))

  it('have known keys, and integers for counted objects', () => {
    assert.deepEqual(
      atOnce(quotaErrors(quota({ 'count/widgets.example.com': '3', 'limits.cpu': '1500m' }))),
      [],
    )
    assert.deepEqual(
      atOnce(quotaErrors(quota({ a: '1', pods: '-1', 'count/secrets': '1500m' }))).map(
        ({ field, detail, value }) => `${field} ${value}: ${detail}`,
      ),
      [
        'spec.hard[a] a: must be a standard resource type or fully qualified',
        'spec.hard[a] a: must be a standard resource for quota',
        'spec.hard[count/secrets] 1500m: must be an integer',
        'spec.hard[pods] -1: must be greater than or equal to 0',
      ],
    )
  })

  it('are limited in number and digits', () => {
    const many = (count: number, value: string): KubeObject =>
      quota(Object.fromEntries(Array.from({ length: count }, (_, i) => [`count/k${i}`, value])))
    canonicalQuota(many(2_000, '100'))
    const tooMany = /: K "a" is invalid: spec\.hard: Too many: 2001: must have at most 2000 items$/
    assert.throws(() => canonicalQuota(many(2_001, '100')), tooMany)
    const tooLong = /: spec\.hard: Too long: may not be more than 50000 bytes$/
    assert.throws(() => canonicalQuota(many(60, '1e1000')), tooLong)
    assert.throws(() => canonicalQuota(many(60, '1'.repeat(900))), tooLong)
  })
})

describe('secrets of service accounts', () => {
  it('are names, whatever else is said of them', () => {
    const secrets = [{ name: 'a', kind: 'Secret', namespace: 'b' }, { kind: 'Secret' }]
    assert.deepEqual(withNamedSecrets(object({ secrets })).secrets, [{ name: 'a' }, {}])
    assert.equal('secrets' in withNamedSecrets(object({})), false)
  })
})
