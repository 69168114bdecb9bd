import assert from 'node:assert/strict'
import { createTinyShard, type TinyShard, widget } from '../../test/support/tinyshard.ts'
import { silent } from '../contract/log.ts'
import { loopbackContext } from '../contract/loopback.ts'
import { defineVirtualWorkspace, type UrlPublisher } from '../contract/workspace.ts'
import { createInformers } from '../informers/informers.ts'
import type { KubeObject } from '../meta/object.ts'
import { onlyUrl, publishUrls } from './publisher.ts'
import { urlsInStatus } from './urlsinstatus.ts'

const widgets = { group: 'example.com', version: 'v1', resource: 'widgets' }
const options = { dryRun: false, fieldManager: 'test' }
const urlsOf = (object: KubeObject | undefined): readonly string[] =>
  (object?.status as { urls?: readonly string[] } | undefined)?.urls ?? []

/** Publishes a view for each widget that is labelled for a team or a crew. */
const publisherBy = <L extends string>(label: L): UrlPublisher<Readonly<Record<L, string>>> => ({
  objects: widgets,
  dependsOn: [],
  isOnlyHere: label === 'crew',
  views: object => {
    const name = object.metadata.labels?.[label]
    return name === undefined ? undefined : [{ [label]: name } as Readonly<Record<L, string>>]
  },
  publish: (object, urls) =>
    String(urlsOf(object)) === String(urls) ? object : { ...object, status: { urls } },
})
const team = defineVirtualWorkspace('team', '/services/team/:team', () => ({
  apis: () => undefined,
  publisher: publisherBy('team'),
}))
/** Publishes one view for each widget with its own URL, and those that other shards have published. */
const alone = defineVirtualWorkspace('alone', '/services/alone/:alone', () => ({
  apis: () => undefined,
  publisher: {
    ...publisherBy('alone'),
    published: urlsOf,
    shardSelector: object => object.metadata.labels?.selector ?? '',
  },
}))
/** Looks only at the object that a changed one names. */
const looked: string[] = []
const linked = defineVirtualWorkspace('linked', '/services/linked/:linked', ({ informers }) => ({
  apis: () => undefined,
  publisher: {
    ...publisherBy('linked'),
    dependsOn: [widgets],
    dependents: ({ metadata }) =>
      [informers.for(widgets).get('root', 'ns', metadata.labels?.for ?? '')].filter(
        found => found !== undefined,
      ),
    views: object => {
      looked.push(object.metadata.name ?? '')
      return undefined
    },
  },
}))
const crew = defineVirtualWorkspace('crew', '/services/crew/:crew', () => ({
  apis: () => undefined,
  publisher: publisherBy('crew'),
}))

/** Publishes in a member of the status of its own. */
const side = (name: string) =>
  defineVirtualWorkspace(name, `/services/${name}/:side`, () => ({
    apis: () => undefined,
    publisher: urlsInStatus(widgets, name, ({ metadata }) =>
      metadata.labels?.[name] === undefined ? undefined : { side: metadata.labels[name] },
    ),
  }))
const sides = [side('north'), side('south')]

describe('publishing URLs', () => {
  let shard: TinyShard
  let stop: AbortController
  let publishing: Promise<void>

  const ctx = () =>
    loopbackContext({ verb: 'create', resource: widgets, cluster: 'root', signal: stop.signal, log: silent })
  const key = (name: string) => ({ cluster: 'root', namespace: 'ns', name })
  const create = (name: string, labels: object) =>
    shard.storage(widgets).create(ctx(), key(name), widget('ns', name, { labels }), options)
  const published = async (name: string): Promise<readonly string[]> => {
    for (;;) {
      const urls = urlsOf((await shard.storage(widgets).get(ctx(), key(name))).object)
      if (urls.length > 0) return urls
      await new Promise(setImmediate)
    }
  }

  const isSelected = (selector: string): boolean => selector === ''

  beforeEach(() => {
    stop = new AbortController()
    shard = createTinyShard()
    const informers = createInformers(shard, silent, stop.signal)
    const host = { backend: shard, informers, log: silent }
    const viewUrls = { ...onlyUrl('https://views.example/base/'), own: 'https://shard.example', isSelected }
    const workspaces = [team(host), crew(host), alone(host), linked(host), ...sides.map(of => of(host))]
    publishing = publishUrls({ workspaces, ...host, viewUrls, signal: stop.signal })
  })
  afterEach(async () => {
    stop.abort()
    await publishing
  })

  it('writes valid URLs into the status, for existing and new objects', async () => {
    await create('a', { team: 'blue' })
    assert.deepEqual(await published('a'), ['https://views.example/base/services/team/blue'])
    await create('b', { team: 'red' })
    assert.deepEqual(await published('b'), ['https://views.example/base/services/team/red'])
  })

  it('names this server for a view that no other process serves', async () => {
    await create('a', { crew: 'blue' })
    assert.deepEqual(await published('a'), ['https://shard.example/services/crew/blue'])
  })

  it('continues after an object with an invalid URL', async () => {
    await create('bad', { team: '..' })
    await create('good', { team: 'green' })
    assert.deepEqual(await published('good'), ['https://views.example/base/services/team/green'])
  })

  const sidesOf = async (name: string): Promise<readonly string[]> => {
    for (;;) {
      const { status } = (await shard.storage(widgets).get(ctx(), key(name))).object
      if (status) return Object.keys(status).sort()
      await new Promise(setImmediate)
    }
  }

  it('writes the URLs of all views of an object in one update', async () => {
    await create('a', { north: 'arctic', south: 'antarctic' })
    assert.deepEqual(await sidesOf('a'), ['north', 'south'])
  })

  it('writes the URL of a view when another one has none for the object', async () => {
    await create('half', { north: '..', south: 'antarctic' })
    assert.deepEqual(await sidesOf('half'), ['south'])
  })

  it('does not add the URL of a shard that the selector of the object does not match', async () => {
    await create('elsewhere', { alone: 'red', selector: 'eu' })
    await create('here', { alone: 'blue' })
    assert.deepEqual(await published('here'), ['https://views.example/base/services/alone/blue'])
    assert.deepEqual(urlsOf((await shard.storage(widgets).get(ctx(), key('elsewhere'))).object), [])
  })

  it('looks only at the objects that depend on a changed one', async () => {
    for (const name of ['a', 'b', 'c']) await create(name, {})
    await create('last', { team: 'blue' })
    await published('last')
    looked.length = 0
    await create('changed', { for: 'b' })
    while (!looked.includes('changed') || !looked.includes('b')) await new Promise(setImmediate)
    assert.deepEqual([looked.includes('a'), looked.includes('c')], [false, false])
  })

  it('does not change other objects', async () => {
    const { meta } = await create('plain', {})
    await create('a', { team: 'blue' })
    await published('a')
    assert.equal(
      (await shard.storage(widgets).get(ctx(), key('plain'))).meta.resourceVersion,
      meta.resourceVersion,
    )
  })
})
