import assert from 'node:assert/strict'
import type { KubeObject, Metadata } from '../../framework/meta/object.ts'
import { decodeObject } from '../../framework/wire/encode.ts'
import { incomingAnnotation, leavingAnnotation, movedAnnotation } from '../../kcp/annotations.ts'
import type { DumpEntry } from '../../kcp/migration.ts'
import { decodeStored, shapeIn } from '../cache/codec.ts'
import { entryFromKcp } from './fromkcp.ts'
import { jsonEntry, protobufEntry } from './testing/kcpentry.ts'
import { recorded, recordedCluster } from './testing/recorded.ts'

const cluster = 'moving'
const objectOf = (entry: DumpEntry, of = cluster): KubeObject =>
  decodeObject(decodeStored(entryFromKcp(of, entry).value).bytes)
const configMap = (metadata: Metadata = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'a', namespace: 'default', uid: 'u', ...metadata },
  data: { x: 'y' },
})
const gadget = (metadata: Metadata = {}): KubeObject => ({
  apiVersion: 'example.com/v1',
  kind: 'Gadget',
  metadata: { name: 'g', ...metadata },
  spec: { any: ['thing', 1, null] },
})

describe('entries of kcp', () => {
  it('that a shard of kcp sent are stored with the keys and in the format of this one', () => {
    const found = recorded.map(entry => entryFromKcp(recordedCluster, entry))
    assert.deepEqual(
      found.map(({ key }) => key),
      [
        `${recordedCluster}/coordination.k8s.io/leases/-/default/lease`,
        `${recordedCluster}/core/events/-/default/ev2`,
      ],
    )
    const [lease, event] = found.map(({ value }) => decodeObject(decodeStored(value).bytes))
    assert.equal(lease?.apiVersion, 'coordination.k8s.io/v1')
    assert.deepEqual(lease.spec, {
      holderIdentity: 'me',
      leaseDurationSeconds: 15,
      renewTime: '2026-01-01T00:00:00.000001Z',
    })
    assert.deepEqual([event?.apiVersion, event?.message, event?.reason], ['v1', 'hello', 'Because'])
  })

  it('of built-in kinds are JSON or protobuf', () => {
    const key = 'core/configmaps/moving/default/a'
    const wanted = configMap({ annotations: { 'kcp.io/cluster': cluster } })
    assert.deepEqual(objectOf(protobufEntry(key, configMap())), wanted)
    assert.deepEqual(objectOf(jsonEntry(key, configMap())), wanted)
  })

  it('of custom kinds are kept as they are, and completed at reads', () => {
    const entry = jsonEntry('example.com/gadgets/customresources/moving/g', gadget())
    assert.deepEqual(objectOf(entry).spec, gadget().spec)
    assert.notEqual(shapeIn(entryFromKcp(cluster, entry).value), 0)
  })

  it('of kinds of kcp are in the version in which this shard stores them', () => {
    const export1 = {
      apiVersion: 'apis.kcp.io/v1alpha1',
      kind: 'APIExport',
      metadata: { name: 'e' },
      spec: { latestResourceSchemas: ['today.cowboys.wildwest.dev'] },
    }
    const found = objectOf(jsonEntry('apis.kcp.io/apiexports/customresources/moving/e', export1))
    assert.equal(found.apiVersion, 'apis.kcp.io/v1alpha2')
    const { resources } = found.spec as { resources: readonly { schema: string }[] }
    assert.deepEqual(
      resources.map(({ schema }) => schema),
      ['today.cowboys.wildwest.dev'],
    )
  })

  it('are objects of this logical cluster, no copies, and move because of this migration', () => {
    const annotations = {
      'kcp.io/cluster': 'other',
      'kcp.io/shard': 'beta',
      own: 'kept',
      [incomingAnnotation]: 'beta,1,complete',
      [leavingAnnotation]: 'beta',
      [movedAnnotation]: '1,2,3',
    }
    const labels = { 'claimed.internal.apis.kcp.io/x': 'y', a: 'b' }
    const sent = gadget({ annotations, labels, resourceVersion: '7' })
    const { metadata } = objectOf(jsonEntry('example.com/gadgets/customresources/moving/g', sent))
    assert.deepEqual(metadata, {
      name: 'g',
      annotations: { 'kcp.io/cluster': cluster, own: 'kept', [movedAnnotation]: '1,2,3' },
      labels: { a: 'b' },
    })
  })

  const refused = (entry: DumpEntry, message: RegExp): void => {
    assert.throws(() => entryFromKcp(cluster, entry), message)
    assert.throws(
      () => entryFromKcp(cluster, entry),
      (error: Error) => error.message.includes(entry.key),
    )
  }

  it('of another logical cluster are refused', () => {
    const foreign = /the dump of logical cluster moving has the entry/
    refused(protobufEntry('core/configmaps/other/default/a', configMap()), foreign)
    refused(protobufEntry('core/configmaps/other/moving/a', configMap({ namespace: 'moving' })), foreign)
    refused(jsonEntry('example.com/gadgets/customresources/other/g', gadget()), foreign)
  })

  it('with another object than their keys name are refused', () => {
    const key = 'core/configmaps/moving/default/a'
    refused(protobufEntry(key, configMap({ name: 'b' })), /it has the object default\/b/)
    refused(protobufEntry(key, configMap({ namespace: 'kube-system' })), /it has the object kube-system\/a/)
    refused(jsonEntry(key, { ...configMap(), kind: 'Secret' }), /no built-in kind Secret/)
    refused(jsonEntry(key, { ...configMap(), apiVersion: 'apps/v1' }), /an object of apps\/v1/)
  })

  it('of kinds that this shard does not have are refused', () => {
    const metadata = { name: 'a', namespace: 'default' }
    const pod = { apiVersion: 'v1', kind: 'Pod', metadata }
    refused(jsonEntry('core/pods/moving/default/a', pod), /no built-in kind Pod of the core group/)
    const thing = { apiVersion: 'apis.kcp.io/v1', kind: 'Thing', metadata: { name: 'a' } }
    refused(jsonEntry('apis.kcp.io/things/customresources/moving/a', thing), /no kind Thing of apis.kcp.io/)
    const later = { apiVersion: 'core.kcp.io/v9', kind: 'LogicalCluster', metadata: { name: 'cluster' } }
    refused(
      jsonEntry('core.kcp.io/logicalclusters/customresources/moving/cluster', later),
      /no version core.kcp.io\/v9 of LogicalCluster/,
    )
  })

  it('that would become objects of kinds of Oriel are refused', () => {
    const view = { apiVersion: 'views.oriel.dev/v1alpha1', kind: 'View', metadata: { name: 'v' } }
    refused(jsonEntry('views.oriel.dev/views/customresources/moving/v', view), /one of Oriel/)
    const name = 'views.views.oriel.dev'
    const crd = {
      apiVersion: 'apiextensions.k8s.io/v1beta1',
      kind: 'CustomResourceDefinition',
      metadata: { name },
      spec: { group: 'views.oriel.dev' },
    }
    refused(jsonEntry(`apiextensions.k8s.io/customresourcedefinitions/moving/${name}`, crd), /one of Oriel/)
  })

  it('that cannot be read are refused, such as encrypted ones', () => {
    const key = 'core/secrets/moving/default/s'
    const sealed = Buffer.from('k8s:enc:aescbc:v1:key1:…').toString('base64')
    refused({ key, value: sealed }, /cannot be stored/)
    refused({ key, value: '' }, /cannot be stored/)
    refused({ key, value: Buffer.from('{"kind":').toString('base64') }, /cannot be stored/)
    refused(jsonEntry(key, []), /cannot be stored/)
    refused(jsonEntry(key, { apiVersion: 'v1', kind: 'Secret' }), /cannot be stored/)
  })
})
