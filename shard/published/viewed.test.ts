import assert from 'node:assert/strict'
import type { Item } from '../../framework/contract/item.ts'
import { itemOf } from '../../framework/contract/item.ts'
import { silent } from '../../framework/contract/log.ts'
import { loopbackContext } from '../../framework/contract/loopback.ts'
import type { ResourceRef } from '../../framework/index.ts'
import { ViewedResources } from './viewed.ts'
import { virtualResources } from './virtual.ts'

const resource = { group: 'example.com', version: 'v1', resource: 'regions' }
const virtual = {
  identityHash: 'uid-of-the-view',
  reference: { apiGroup: 'views.oriel.dev', kind: 'View', name: 'public' },
}

/** A workspace that binds its own export, whose storage is its own View. */
const objects = (source: object): Readonly<Record<string, object>> => ({
  apibindings: {
    metadata: { name: 'regions' },
    spec: { reference: { export: { name: 'regions' } } },
    status: {
      apiExportClusterName: 'one',
      boundResources: [
        { group: 'example.com', resource: 'regions', schema: { identityHash: 'x' }, storageVersions: [] },
      ],
    },
  },
  apiexports: {
    metadata: { name: 'regions' },
    spec: { resources: [{ group: 'example.com', name: 'regions', schema: 's', storage: { virtual } }] },
  },
  views: { metadata: { name: 'public', uid: 'uid-of-the-view' }, spec: { source } },
})

function regionsOf(source: object) {
  const all = objects(source)
  const itemIn = ({ resource: plural }: ResourceRef): Item => itemOf(all[plural] as never, 'one')
  const viewed = new ViewedResources()
  const options = {
    informers: { for: (ref: ResourceRef) => ({ list: () => [itemIn(ref)], get: () => itemIn(ref) }) },
    ...{ viewed, shared: {}, apis: () => undefined, resolve: () => undefined },
  }
  const storage = virtualResources(options as never)(resource)
  viewed.use([{ name: 'views', apis: () => ({ find: () => ({ storage }) }) } as never])
  return storage
}

const ctx = () =>
  loopbackContext({
    verb: 'list',
    resource,
    cluster: 'one',
    signal: new AbortController().signal,
    log: silent,
  })

describe('a resource whose storage is a View', () => {
  it('is refused when workspaces publish Views to each other in a circle', async () => {
    const list = async () => regionsOf({ cluster: '.' }).list(ctx(), { cluster: 'one' }).next()
    await assert.rejects(list, /forwarded 4 times without being served.*publish it read it from each other/)
  })

  it('is refused when the View does not show its own workspace', async () => {
    const list = async () => regionsOf({ apiExport: 'widgets' }).list(ctx(), { cluster: 'one' }).next()
    await assert.rejects(list, /regions.example.com of the View "public" cannot be bound: spec.source/)
  })
})
