import assert from 'node:assert/strict'
import { type AdmissionPlugin, inOneVersion, refusedName } from '../../framework/contract/admission.ts'
import { silent } from '../../framework/contract/log.ts'
import { loopbackContext } from '../../framework/contract/loopback.ts'
import type { KubeObject } from '../../framework/meta/object.ts'
import { mutatingAgain, registryAdmission } from './chain.ts'

const warnings: string[] = []
const base = loopbackContext({
  verb: 'create',
  resource: { group: '', version: 'v1', resource: 'configmaps' },
  cluster: 'c1',
  signal: new AbortController().signal,
  log: silent,
})
const ctx = { ...base, record: { ...base.record, warn: (text: string) => void warnings.push(text) } }

const owners = [{ manager: 'a', operation: 'Update', apiVersion: 'v1', fieldsType: 'FieldsV1', fieldsV1: {} }]
const object: KubeObject = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'a', managedFields: owners },
}

const mutate = (...plugins: readonly AdmissionPlugin[]): Promise<KubeObject> =>
  registryAdmission(plugins).mutate(ctx, {
    operation: 'CREATE',
    group: '',
    resource: 'configmaps',
    ...inOneVersion('v1'),
    subresource: '',
    key: { cluster: 'c1', namespace: '', name: 'a' },
    dryRun: false,
    object,
  })

/** A plugin that appends its name to a label, and requests and takes part in a second pass if it is `again`. */
const labeller = (name: string, passes: 'once' | 'again'): AdmissionPlugin => ({
  name,
  mutate(_ctx, request, reinvocation) {
    const hooks = reinvocation.of(name)
    hooks.enter(request.object)
    if (!hooks.asks('hook')) return request.object
    const seen = (request.object.metadata.labels?.seen ?? '') + name
    const next = { ...request.object, metadata: { ...request.object.metadata, labels: { seen } } }
    hooks.asked('hook', { changed: true, willing: passes === 'again' })
    hooks.leave(next)
    return next
  },
})

describe('mutating admission', () => {
  it('calls plugins that want it a second time, once', async () => {
    const { metadata } = await mutate(labeller('a', 'again'), labeller('b', 'once'), labeller('c', 'again'))
    assert.equal(metadata.labels?.seen, 'abcac')
    assert.equal((await mutate(labeller('a', 'once'))).metadata.labels?.seen, 'a')
  })

  it('restores unreadable managedFields, with a warning (5.59)', async () => {
    const spoiling: AdmissionPlugin = {
      name: 'Spoiling',
      mutate: (_ctx, request) => ({
        ...request.object,
        metadata: { ...request.object.metadata, managedFields: [{ operation: 'Guess' }] },
      }),
    }
    assert.deepEqual((await mutate(spoiling)).metadata.managedFields, owners)
    assert.deepEqual(warnings, [
      '.metadata.managedFields was in an invalid state after admission; this could be caused by an outdated mutating admission controller; please fix your requests: operation must be `Apply` or `Update`',
    ])
  })
})

describe('the mutation of the server', () => {
  const setting = (name: string, value: string): AdmissionPlugin => ({
    name,
    mutate: (_ctx, { object }) => ({ ...object, metadata: { ...object.metadata, labels: { owner: value } } }),
  })
  const own = setting('Own', 'server')

  it('runs again after plugins of tenants, so that they cannot write its fields', async () => {
    const tenants = [setting('Policy', 'tenant')]
    const { metadata } = await mutate(own, ...tenants, ...mutatingAgain([own], tenants))
    assert.equal(metadata.labels?.owner, 'server')
  })

  it('does not run again where no plugin of a tenant handles the write', async () => {
    const asleep = { ...setting('Policy', 'tenant'), handles: { when: () => false } }
    const { metadata } = await mutate(setting('Other', 'first'), ...mutatingAgain([own], [asleep]))
    assert.equal(metadata.labels?.owner, 'first')
  })
})

describe('refusals by admission', () => {
  it('name an object as far as it has a name (2.57)', () => {
    const request = (name: string, generateName?: string) => ({
      operation: 'CREATE' as const,
      group: '',
      resource: 'configmaps',
      ...inOneVersion('v1'),
      subresource: '' as const,
      key: { cluster: 'c1', namespace: '', name },
      dryRun: false,
      object: { ...object, metadata: { ...(generateName && { generateName }) } },
    })
    const names = [request('a', 'b-'), request('', 'b-'), request('')].map(refusedName)
    assert.deepEqual(names, ['a', 'b-', 'Unknown'])
  })
})
