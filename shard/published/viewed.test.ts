import assert from 'node:assert/strict'
import type { Item } from '../../framework/contract/item.ts'
import { itemOf } from '../../framework/contract/item.ts'
import { silent } from '../../framework/contract/log.ts'
import { loopbackContext } from '../../framework/contract/loopback.ts'
import type { ResourceRef } from '../../framework/index.ts'
import { ViewedResources, viewedBy } from './viewed.ts'
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
    viewed,
    shared: {},
    apis: () => undefined,
    resolve: () => undefined,
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

describe('a workspace that publishes the View of another one', () => {
  const uid = virtual.identityHash
  /** The Views by logical cluster and name. The provider has the View `public`. */
  const views: Readonly<Record<string, object>> = {
    'provider/public': { metadata: { name: 'public', uid }, spec: { source: { cluster: '.' } } },
    'attacker/public': { metadata: { name: 'public', uid: 'own' }, spec: { source: { cluster: '.' } } },
  }
  const find = (cluster: string, name: string) => views[`${cluster}/${name}`]
  const get = (cluster: string, _: string, name: string): Item | undefined => {
    const object = find(cluster, name)
    return object && itemOf(object as never, cluster)
  }
  /** Reads the resource of an export of `provider`. Returns the owners of the Views that were read. */
  function read(provider: string, identityHash: string, name = 'public'): readonly string[] {
    const owners: string[] = []
    const viewed = new ViewedResources()
    const apis = ({ owner }: { readonly owner: string }) => {
      owners.push(owner)
      return { find: () => ({ storage: {} }) }
    }
    viewed.use([{ name: 'views', apis } as never])
    const informers = { for: () => ({ get }) } as never
    const reference = { ...virtual.reference, name }
    viewedBy({ informers, viewed }, { resource, provider, virtual: { reference, identityHash } } as never)
    return owners
  }

  it('gets the objects of its own View only, as the provider does', () => {
    assert.deepEqual(read('provider', uid), ['provider'])
    assert.deepEqual(read('attacker', 'own'), ['attacker'])
  })

  for (const [what, name] of [
    ['with its own View of the same name', 'public'],
    ['without a View of this name', 'none'],
    ['by a name with the logical cluster of the other', 'provider/public'],
    ['by a path to the other', '../provider/public'],
  ] as const)
    it(`is refused with the uid of the other View, ${what}`, () =>
      assert.throws(() => read('attacker', uid, name), /contact APIExport owner/))

  it('is refused without a uid', () => assert.throws(() => read('attacker', ''), /contact APIExport owner/))
})
