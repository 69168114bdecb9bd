import assert from 'node:assert/strict'
import type { KubeObject } from '../../framework/meta/object.ts'
import { compileCached } from '../compile.ts'
import { type KindDefinition, schemaFor } from './definition.ts'
import { apiBinding } from './kcp/bindings.ts'
import { apiExport } from './kcp/exports.ts'
import { workspace, workspaceType } from './kcp/workspaces.ts'
import { namespaces, secrets, serviceAccounts } from './kubernetes/core.ts'
import { coreEvents } from './kubernetes/events.ts'
import { roleBindings } from './kubernetes/rbac.ts'
import { mutatingWebhookConfigurations } from './kubernetes/webhooks.ts'

type Fields = Readonly<Record<string, unknown>>

/** The stored object of a request, its unknown fields and its errors. */
function written(kind: KindDefinition, version: string, fields: Fields) {
  const schema = compileCached(schemaFor(kind, version))
  const apiVersion = kind.group === '' ? version : `${kind.group}/${version}`
  const sent: KubeObject = { apiVersion, kind: kind.names.kind, metadata: { name: 'x' }, ...fields }
  const { object, unknown } = schema.decode(sent)
  const errors = schema.validate(object).map(error => `${error.field}: ${error.type}`)
  const { apiVersion: _, kind: __, metadata: ___, ...rest } = object
  return { rest, unknown, errors }
}

describe('objects of built-in kinds', () => {
  it('keep data, and lose unknown fields and nulls', () => {
    assert.deepEqual(written(secrets, 'v1', { data: { a: 'YQ==' }, other: 1, stringData: null }), {
      rest: { data: { a: 'YQ==' }, type: 'Opaque' },
      unknown: ['other'],
      errors: [],
    })
  })

  it('read null in a map of text or bytes as empty', () => {
    const { rest } = written(secrets, 'v1', { data: { a: null }, stringData: { b: null } })
    assert.deepEqual(rest, { data: { a: '' }, stringData: { b: '' }, type: 'Opaque' })
  })

  it('may be empty', () => {
    for (const kind of [namespaces, secrets, serviceAccounts])
      assert.deepEqual(written(kind, 'v1', {}).errors, [])
  })

  it('take events as client-go writes them', () => {
    const event = {
      involvedObject: { kind: 'Lease', namespace: 'kube-system', name: 'leader', uid: 'u' },
      reason: 'LeaderElection',
      message: 'became leader',
      source: { component: 'controller' },
      firstTimestamp: '2026-01-01T00:00:00Z',
      lastTimestamp: '2026-01-01T00:00:00Z',
      count: 1,
      type: 'Normal',
      eventTime: null,
      reportingComponent: '',
      reportingInstance: '',
    }
    const { eventTime: _, ...kept } = event
    assert.deepEqual(written(coreEvents, 'v1', event), { rest: kept, unknown: [], errors: [] })
  })

  it('have the group of roles', () => {
    const { rest } = written(roleBindings, 'v1', { roleRef: { kind: 'Role', name: 'r' } })
    assert.deepEqual(rest.roleRef, { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'r' })
  })

  it('get the defaults of webhooks', () => {
    const hook = {
      name: 'a.example.com',
      clientConfig: { service: { namespace: 'n', name: 's' } },
      rules: [{ operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*'] }],
      sideEffects: 'None',
      admissionReviewVersions: ['v1'],
    }
    const { rest, errors } = written(mutatingWebhookConfigurations, 'v1', { webhooks: [hook] })
    assert.deepEqual(errors, [])
    assert.deepEqual(rest.webhooks, [
      {
        ...hook,
        clientConfig: { service: { namespace: 'n', name: 's', port: 443 } },
        rules: [{ ...hook.rules[0], scope: '*' }],
        failurePolicy: 'Fail',
        matchPolicy: 'Equivalent',
        namespaceSelector: {},
        objectSelector: {},
        reinvocationPolicy: 'Never',
        timeoutSeconds: 10,
      },
    ])
  })
})

describe('objects of kcp kinds', () => {
  it('get their defaults', () => {
    assert.deepEqual(written(workspace, 'v1alpha1', {}).rest, { spec: {}, status: { phase: 'Scheduling' } })
    const { rest } = written(workspaceType, 'v1alpha1', { spec: {} })
    assert.deepEqual(rest.spec, { defaultChildWorkspaceType: { name: 'universal', path: 'root' } })
    const resource = { group: 'example.com', name: 'widgets', schema: 'v1.widgets.example.com' }
    const stored = written(apiExport, 'v1alpha2', { spec: { resources: [resource] } })
    assert.deepEqual(stored.rest.spec, { resources: [{ ...resource, storage: { crd: {} } }] })
    assert.deepEqual(stored.errors, [])
  })

  it('are refused where kcp refuses them', () => {
    const claim = { resource: 'secrets', verbs: ['get'], state: 'Maybe' }
    const { errors } = written(apiBinding, 'v1alpha2', {
      spec: { reference: { export: { path: 'Root' } }, permissionClaims: [claim] },
    })
    // The first error reports that rules were not evaluated, because the object has the wrong types.
    assert.deepEqual([...errors].sort(), [
      ': FieldValueInvalid',
      'spec.permissionClaims[0].selector: FieldValueRequired',
      'spec.permissionClaims[0].state: FieldValueNotSupported',
      'spec.reference.export.name: FieldValueRequired',
      'spec.reference.export.path: FieldValueInvalid',
    ])
  })
})
