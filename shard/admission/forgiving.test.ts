import assert from 'node:assert/strict'
import {
  type AdmissionAttributes,
  type AdmissionPlugin,
  inOneVersion,
} from '../../framework/contract/admission.ts'

import type { KubeObject } from '../../framework/meta/object.ts'
import { testContext } from '../../test/support/context.ts'
import { policyExpressions } from './policies/specrules.ts'
import { webhookRules } from './webhooks/specrules.ts'

const group = 'admissionregistration.k8s.io'
const bad = [{ name: 'old', expression: 'nothing.of.that' }]
const worse = [{ name: 'new', expression: 'nothing.of.this' }]
const rule = { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }

const policy = (matchConditions: readonly object[], more: object = {}): KubeObject => ({
  apiVersion: `${group}/v1`,
  kind: 'ValidatingAdmissionPolicy',
  metadata: { name: 'p' },
  spec: {
    matchConstraints: { resourceRules: [rule] },
    validations: [{ expression: 'true' }],
    matchConditions,
    ...more,
  },
})

const webhooks = (...conditions: readonly (readonly object[])[]): KubeObject => ({
  apiVersion: `${group}/v1`,
  kind: 'ValidatingWebhookConfiguration',
  metadata: { name: 'w' },
  webhooks: conditions.map((matchConditions, i) => ({
    name: `h${i}.example.com`,
    clientConfig: { url: 'https://example.com' },
    rules: [rule],
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
    matchConditions,
  })),
})

const updating = (resource: string, object: KubeObject, old: KubeObject): AdmissionAttributes => ({
  ...inOneVersion('v1'),
  operation: 'UPDATE',
  group,
  resource,
  subresource: '',
  key: { cluster: 'c1', namespace: '', name: object.metadata.name ?? '' },
  dryRun: false,
  object,
  old,
})

const refusalOf = async (plugin: AdmissionPlugin, request: AdmissionAttributes): Promise<string> => {
  try {
    await plugin.validate?.(testContext(), request)
    return ''
  } catch (error) {
    return (error as Error).message
  }
}

describe('match conditions that no longer compile', () => {
  const ofPolicy = (next: KubeObject, old: KubeObject) =>
    refusalOf(policyExpressions, updating('validatingadmissionpolicies', next, old))
  const ofWebhooks = (next: KubeObject, old: KubeObject) =>
    refusalOf(webhookRules, updating('validatingwebhookconfigurations', next, old))

  it('are accepted in an update that does not change them', async () => {
    assert.equal(await ofPolicy(policy(bad, { failurePolicy: 'Ignore' }), policy(bad)), '')
  })

  it('are refused when they, or the parameters, change', async () => {
    assert.match(await ofPolicy(policy([...bad, ...worse]), policy(bad)), /matchConditions\[0\].expression/)
    const paramKind = { apiVersion: 'v1', kind: 'ConfigMap' }
    assert.match(await ofPolicy(policy(bad, { paramKind }), policy(bad)), /matchConditions\[0\].expression/)
  })

  it('are accepted when no webhook changes its conditions', async () => {
    assert.equal(await ofWebhooks(webhooks(bad, bad), webhooks(bad, bad)), '')
    assert.match(await ofWebhooks(webhooks(bad, worse), webhooks(bad, bad)), /webhooks\[0\].matchConditions/)
    assert.match(await ofWebhooks(webhooks(bad, bad), webhooks(bad)), /webhooks\[1\].matchConditions/)
  })
})
