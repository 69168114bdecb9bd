import assert from 'node:assert/strict'
import type { KubeObject } from '../../../framework/index.ts'
import type { Answered, Reply } from '../../support/client.ts'
import { expect, merge, namespaces, post, put, type Target, widget, widgetsIn } from '../fixture.ts'

const metadata = {
  labels: { a: 'b' },
  annotations: { c: 'd' },
  finalizers: ['example.com/f'],
  ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'x', uid: 'u1' }],
}

interface Managed {
  readonly manager: string
  readonly subresource?: string
  readonly fieldsV1: { readonly 'f:metadata'?: object }
}

/** The metadata fields that a manager owns through a subresource. */
function ownedBy(object: KubeObject, manager: string, subresource: string): readonly string[] {
  const entries = (object.metadata.managedFields ?? []) as unknown as readonly Managed[]
  const own = entries.find(entry => entry.manager === manager && entry.subresource === subresource)
  return Object.keys(own?.fieldsV1['f:metadata'] ?? {})
}

/** The fields that status endpoints of built-in kinds write: unlike those of custom resources, metadata, too. */
export function statusCases(target: () => Target): void {
  const quotas = (namespace: string): string => `${namespaces}/${namespace}/resourcequotas`
  const freed = async (path: string): Promise<void> =>
    void (await expect(200, target().client(path, merge({ metadata: { finalizers: null } }))))

  /** One that both kinds pass. */
  async function writesMetadata(path: string, spec: object): Promise<Answered & KubeObject> {
    const { client } = target()
    const change = merge({ metadata, spec })
    const written = (await expect(200, client(`${path}/status?fieldManager=m`, change))) as Answered &
      KubeObject
    const { labels, annotations, finalizers, ownerReferences } = written.metadata
    assert.deepEqual([labels?.a, annotations?.c, finalizers], ['b', 'd', ['example.com/f']])
    assert.equal(ownerReferences?.length, 1)
    const owned = ['f:annotations', 'f:finalizers', 'f:labels', 'f:ownerReferences']
    assert.deepEqual(ownedBy(written, 'm', 'status').toSorted(), owned)
    return written
  }

  it('writes metadata of a namespace, and no spec (3.32, 5.51k)', async () => {
    const path = `${namespaces}/${await target().namespace()}`
    const { spec } = await writesMetadata(path, { finalizers: ['example.com/s'] })
    assert.deepEqual(spec, { finalizers: ['kubernetes'] })
    await freed(path)
  })

  it('writes metadata of a quota, and no spec (3.32, 5.51k)', async () => {
    const path = quotas(await target().namespace())
    const quota = {
      apiVersion: 'v1',
      kind: 'ResourceQuota',
      metadata: { name: 'q' },
      spec: { hard: { cpu: '1' } },
    }
    await expect(201, target().client(path, post(quota)))
    const { spec } = await writesMetadata(`${path}/q`, { hard: { cpu: '2' } })
    assert.deepEqual(spec, { hard: { cpu: '1' } })
    await freed(`${path}/q`)
  })

  const refused = async (path: string, status: object): Promise<string | undefined> =>
    (await expect(422, target().client(`${path}/status`, merge({ status })))).message

  it('keeps the phase Active of a namespace (3.32)', async () => {
    const name = await target().namespace()
    const path = `${namespaces}/${name}`
    assert.equal(
      await refused(path, { phase: 'Terminating' }),
      `Namespace "${name}" is invalid: status.Phase: Invalid value: "Terminating": may only be 'Active' if \`deletionTimestamp\` is empty`,
    )
    const { status } = await expect(
      200,
      target().client(`${path}/status`, merge({ status: { phase: null } })),
    )
    assert.deepEqual(status, { phase: 'Active' })
  })

  it('refuses invalid quantities of a quota (3.32)', async () => {
    const path = quotas(await target().namespace())
    const quota = { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'q' }, spec: {} }
    await expect(201, target().client(path, post(quota)))
    assert.equal(
      await refused(`${path}/q`, { hard: { pods: '1.5' }, used: { cpu: '-1' } }),
      'ResourceQuota "q" is invalid: [status.hard[pods]: Invalid value: "1500m": must be an integer, ' +
        'status.used[cpu]: Invalid value: "-1": must be greater than or equal to 0]',
    )
  })

  it('accepts duplicate list items of built-in kinds without a rule against them (7.28a)', async () => {
    const path = `${namespaces}/${await target().namespace()}/status`
    const condition = { type: 'A', status: 'True', lastTransitionTime: '2020-01-01T00:00:00Z' }
    const status = { conditions: [condition, condition] }
    const written = (await expect(200, target().client(path, merge({ status })))) as {
      status?: typeof status
    }
    assert.equal(written.status?.conditions.length, 2)
  })

  it('reports errors of a custom resource’s status relative to the status (7.23a)', async () => {
    const path = widgetsIn(await target().namespace())
    await expect(201, target().client(path, post(widget('a'))))
    assert.equal(
      await refused(`${path}/a`, { phase: 5 }),
      'Widget.example.com "a" is invalid: status.phase: Invalid value: "integer": phase in body must be of type string: "integer"',
    )
  })
}

/** `/finalize` of namespaces, which views do not serve. */
export function finalizeCases(target: () => Target): void {
  const finalizing = (name: string, finalizers: readonly string[], more: object = {}): Promise<Reply> => {
    const body = { apiVersion: 'v1', kind: 'Namespace', metadata: { name, ...more }, spec: { finalizers } }
    return target().client(`${namespaces}/${name}/finalize?fieldManager=m`, put(body))
  }
  const problem = 'name is neither a standard finalizer name nor is it fully qualified'

  it('writes metadata and finalizers (3.32, 5.51k)', async () => {
    const name = await target().namespace()
    const finalizers = ['kubernetes', 'example.com/s']
    const written = (await expect(200, finalizing(name, finalizers, { labels: { a: 'b' } }))) as Answered &
      KubeObject
    assert.deepEqual(written.spec, { finalizers })
    assert.deepEqual(written.metadata.labels, { a: 'b', 'kubernetes.io/metadata.name': name })
    assert.deepEqual(ownedBy(written, 'm', 'finalize'), ['f:labels'])
    await expect(200, finalizing(name, ['kubernetes']))
  })

  it('requires qualified names of finalizers (3.16)', async () => {
    const name = await target().namespace()
    assert.equal(
      (await expect(422, finalizing(name, ['mine']))).message,
      `Namespace "${name}" is invalid: spec.finalizers[0]: Invalid value: "mine": ${problem}`,
    )
    const other = {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: 'other' },
      spec: { finalizers: ['mine'] },
    }
    assert.equal(
      (await expect(422, target().client(namespaces, post(other)))).message,
      `Namespace "other" is invalid: spec.finalizers: Invalid value: "mine": ${problem}`,
    )
  })
}
