import assert from 'node:assert/strict'
import { compiled, discard, eventually, run } from '../../support/oriel.ts'
import { apply } from '../../support/tenants.ts'
import { idsIn, ViewScene, viewOfWidgets, widget, widgets, widgetsIn } from './declared/scene.ts'

const redAndGold =
  "object.spec.color == 'red' && 'tier' in cluster.labels && cluster.labels['tier'] == 'gold'"

describe('Views', function () {
  this.timeout(120_000)
  let scene: ViewScene
  let url: string
  const idsOf = async (user: string): Promise<readonly string[]> => {
    const client = await scene.as(user, `${url}/clusters/*`)
    const reply = await client(widgets)
    client.close()
    assert.equal(reply.status, 200, reply.text)
    return idsIn(reply.json().items)
  }

  before(async () => {
    scene = await ViewScene.start()
    const { red, green } = scene.consumers
    await apply(red.kubectl, widget('a', 'red'), widget('b', 'blue'))
    await apply(green.kubectl, widget('c', 'red'), widget('d', 'blue'))
    await scene.label('red', 'tier=gold')
    url = await scene.view(viewOfWidgets('gold', { where: redAndGold }))
  })
  after(() => discard(scene.oriel))

  it('show what the expression selects, to users with the verb on views/content', async () => {
    const { red, green } = scene.consumers
    assert.deepEqual(await idsOf('ada'), [`${red.cluster}/a`])
    const eve = await scene.as('eve', `${url}/clusters/*`)
    assert.equal((await eve(widgets)).status, 403)
    eve.close()
    const ada = await scene.as('ada', `${url}/clusters/${green.cluster}`)
    assert.equal((await ada(`${widgetsIn}/c`)).status, 404)
    assert.equal((await ada(`${widgetsIn}/none`)).status, 404)
    ada.close()
  })

  it('let nobody own the status, which has an endpoint of its own', async () => {
    const { red } = scene.consumers
    const ada = await scene.as('ada', `${url}/clusters/${red.cluster}`)
    const headers = { 'content-type': 'application/apply-patch+yaml' }
    const { apiVersion, kind } = widget('a', 'red')
    const body = { apiVersion, kind, metadata: { name: 'a' }, spec: { size: 7 }, status: { phase: 'x' } }
    const reply = await ada(`${widgetsIn}/a?fieldManager=ada&force=true`, { method: 'PATCH', body, headers })
    ada.close()
    assert.equal(reply.status, 200, reply.text)
    assert.match(reply.text, /"manager":"ada"/)
    assert.ok(!reply.text.includes('f:status'), reply.text)
  })

  it('refuse writes that lead out of the View, and to hidden objects', async () => {
    const { red, green } = scene.consumers
    const json = { 'content-type': 'application/json' }
    const inRed = await scene.as('ada', `${url}/clusters/${red.cluster}`)
    const inGreen = await scene.as('ada', `${url}/clusters/${green.cluster}`)
    const blue = await inRed(widgetsIn, { method: 'POST', body: widget('new', 'blue'), headers: json })
    assert.equal(blue.status, 403, blue.text)
    assert.match(blue.text, /would be outside the View/)
    const merge = { 'content-type': 'application/merge-patch+json' }
    const body = { spec: { color: 'blue' } }
    assert.equal((await inRed(`${widgetsIn}/a`, { method: 'PATCH', body, headers: merge })).status, 403)
    assert.equal((await inGreen(`${widgetsIn}/c`, { method: 'PATCH', body, headers: merge })).status, 404)
    assert.equal((await inGreen(`${widgetsIn}/c`, { method: 'DELETE' })).status, 404)
    const size = { spec: { size: 7 } }
    assert.equal((await inRed(`${widgetsIn}/a`, { method: 'PATCH', body: size, headers: merge })).status, 200)
    inRed.close()
    inGreen.close()
  })

  it('send ADDED and DELETED when the labels of a workspace change', async () => {
    const { green } = scene.consumers
    const watcher = await scene.watch('ada', `${url}/clusters/*`)
    await scene.label('green', 'tier=gold')
    await watcher.next(({ type, object }) => type === 'ADDED' && object.metadata?.name === 'c')
    // No event of a widget comes between these changes.
    await scene.label('green', 'tier=silver')
    await watcher.next(({ type }) => type === 'DELETED')
    await scene.label('green', 'tier=gold')
    await apply(green.kubectl, widget('c', 'red'), widget('e', 'red'))
    await watcher.next(({ object }) => object.metadata?.name === 'e')
    await scene.label('green', 'tier=silver')
    await watcher.next(({ type, object }) => type === 'DELETED' && object.metadata?.name === 'e')
    await apply(green.kubectl, widget('f', 'red'))
    await scene.label('green', 'tier=gold')
    await watcher.next(({ object }) => object.metadata?.name === 'f')
    const seen = watcher.seen.map(({ type, object }) => `${type} ${object.metadata?.name}`)
    assert.deepEqual(seen, [
      ...['ADDED a', 'ADDED c', 'DELETED c', 'ADDED c', 'ADDED e', 'DELETED c', 'DELETED e'],
      ...['ADDED c', 'ADDED e', 'ADDED f'],
    ])
    watcher.stop()
  })

  it('let watches expire from before a change of the View, or of a workspace', async () => {
    const ada = await scene.as('ada', `${url}/clusters/*`)
    const { metadata } = (await ada(widgets)).json()
    const resourceVersion = metadata.resourceVersion ?? ''
    const watcher = await scene.watch('ada', `${url}/clusters/*`, { resourceVersion })
    await scene.label('green', 'tier=silver')
    await watcher.next(({ type }) => type === 'DELETED')
    const expired = async (from: string): Promise<void> => {
      const again = await scene.watch('ada', `${url}/clusters/*`, { resourceVersion: from })
      const { object } = await again.next(({ type }) => type === 'ERROR')
      assert.equal((object as { code?: number }).code, 410)
      again.stop()
    }
    await expired(resourceVersion)
    const now = (await ada(widgets)).json().metadata.resourceVersion ?? ''
    await scene.view(viewOfWidgets('gold', { where: "object.spec.color == 'blue'" }))
    const { object } = await watcher.next(({ type }) => type === 'ERROR')
    assert.equal((object as { code?: number }).code, 410)
    await expired(now)
    const { red, green } = scene.consumers
    assert.deepEqual(await idsOf('ada'), [`${red.cluster}/b`, `${green.cluster}/d`].sort())
    watcher.stop()
    ada.close()
  })

  it('give no permissions that their author lacks', async () => {
    const bob = await scene.as('bob', `${scene.oriel.url}/clusters/root:provider`)
    const views = '/apis/views.oriel.dev/v1alpha1/views'
    const body = viewOfWidgets('all', {})
    const headers = { 'content-type': 'application/json' }
    const reply = await bob(views, { method: 'POST', body, headers })
    bob.close()
    assert.equal(reply.status, 403)
    assert.match(reply.text, /a View can give only permissions that you have: list on apiexports\/content/)
  })

  it('are explained, with the part of the View that decided', async () => {
    const explain = (verb: string) =>
      run(process.execPath, [
        ...[compiled, 'explain', verb, 'widgets.example.com', '--as', 'eve'],
        ...[
          '--kubeconfig',
          scene.oriel.kubeconfig,
          '--server',
          `${url}/clusters/${scene.consumers.red.cluster}`,
        ],
      ])
    const { stdout: told, stderr } = await explain('deletecollection')
    assert.match(told, /virtual\.views\.content .*did not allow/, stderr)
    assert.match(told, /spec\.resources\[0\]\.verbs of the View "gold" does not have "deletecollection"/)
    assert.match(
      (await explain('list')).stdout,
      /spec\.resources\[0\]\.verbs of the View "gold" has the verb/,
    )
  })

  it('name the position of a wrong expression, and serve nothing of the resource', async () => {
    await apply(scene.provider, viewOfWidgets('wrong', { where: "object.spec.colour == 'red'" }))
    const message = await eventually(
      () =>
        scene.provider([
          'get',
          'view',
          'wrong',
          '-o',
          'jsonpath={.status.conditions[?(@.type=="ExpressionsValid")].message}',
        ]),
      text => text !== '',
    )
    assert.equal(message, "spec.resources[0].where: line 1, column 12: undefined field 'colour'")
    const ada = await scene.as('ada', url.replace(/gold$/, 'wrong'))
    const reply = await ada(`/clusters/*${widgets}`)
    ada.close()
    assert.equal(reply.status, 404, reply.text)
  })

  it('end their watches with 410, and show nothing more, when the APIExport is deleted', async () => {
    url = await scene.view(viewOfWidgets('last', { where: 'true' }))
    const watcher = await scene.watch('ada', `${url}/clusters/*`)
    await watcher.next(({ type }) => type === 'ADDED')
    await scene.provider(['delete', 'apiexport', 'widgets.example.com', '--wait=false'])
    const { object } = await watcher.next(({ type }) => type === 'ERROR')
    assert.equal((object as { code?: number }).code, 410)
    assert.ok(!watcher.seen.some(({ type }) => type === 'DELETED'))
    await scene.provider(['wait', '--for=condition=SourceReady=false', 'view/last'])
    const ada = await scene.as('ada', `${url}/clusters/*`)
    const reply = await ada(widgets)
    assert.equal(reply.status, 403, reply.text)
    ada.close()
    watcher.stop()
  })
})
