import assert from 'node:assert/strict'
import type { Explanation } from '../../../../authz/index.ts'
import { compiled, discard, eventually, run } from '../../../support/oriel.ts'
import { apply, rolesFor } from '../../../support/tenants.ts'
import { viewReview } from '../../../support/viewreviews.ts'
import { ViewScene, viewOfWidgets, widget, widgetsIn } from './scene.ts'

describe('explanations of what a View shows', function () {
  this.timeout(120_000)
  let scene: ViewScene
  let view = ''
  let url = ''

  before(async () => {
    scene = await ViewScene.start()
    await apply(scene.consumers.red.kubectl, widget('shown', 'red'), widget('concealed', 'blue'))
    const where = "object.spec.color == 'red' && object.metadata.labels['none'] != 'x'"
    const parts = { hide: ['status'], writable: ['spec.size'] }
    await scene.view(viewOfWidgets('failing', { where }))
    const gold = await scene.view(viewOfWidgets('gold', { where: "object.spec.color == 'red'", ...parts }))
    url = `${gold}/clusters/${scene.consumers.red.cluster}`
    view = new URL(url).pathname
    const review = {
      apiGroups: ['authorization.k8s.io'],
      resources: ['subjectaccessreviews'],
      verbs: ['create'],
    }
    await apply(scene.provider, ...rolesFor('eve', review))
    for (const [server, status] of [
      [url, 200],
      [url.replace('/gold/', '/failing/'), 404],
    ] as const) {
      const ada = await scene.as('ada', server)
      await eventually(
        () => ada(`${widgetsIn}/shown`),
        reply => reply.status === status,
      )
      ada.close()
    }
  })
  after(() => discard(scene.oriel))

  const explain = async (verb: string, what: string, server = url): Promise<string> => {
    const at = ['--kubeconfig', scene.oriel.kubeconfig, '--server', server]
    const { stdout } = await run(process.execPath, [compiled, 'explain', verb, what, '--as', 'ada', ...at])
    return stdout
  }
  const hidden = /the object is hidden, as if it did not exist/

  it('tell that it selects an object, and which of its fields are hidden', async () => {
    const told = await explain('get', 'widgets.example.com/shown')
    assert.match(told, /^Yes: /)
    assert.match(told, /spec\.resources\[0\] of the View "gold" selects the object/)
    assert.match(told, /spec\.resources\[0\]\.hide of the View "gold" hides status/)
    assert.doesNotMatch(told, /\.writable/)
  })

  it('tell why an object is hidden', async () => {
    const told = await explain('get', 'widgets.example.com/concealed')
    assert.match(told, /^No: /)
    assert.match(told, hidden)
    assert.match(told, /spec\.resources\[0\]\.where of the View "gold" is false for it/)
    const failing = await explain('get', 'widgets.example.com/shown', url.replace('/gold/', '/failing/'))
    assert.match(failing, /spec\.resources\[0\]\.where of the View "failing" fails for it: no such key/)
    assert.match(await explain('get', 'widgets.example.com/none'), /shows no such object/)
  })

  it('tell which fields can be written', async () => {
    const told = await explain('patch', 'widgets.example.com/shown')
    assert.match(told, /spec\.resources\[0\]\.writable of the View "gold" allows to write spec\.size/)
  })

  it('do not tell whether an object exists to a requester who may not get it', async () => {
    const eve = await scene.as('eve', `${scene.oriel.url}/clusters/root:provider`)
    const ask = async (name: string): Promise<string> => {
      const wanted = { verb: 'get', group: 'example.com', resource: 'widgets', namespace: 'default', name }
      const { path, body } = viewReview({ about: 'ada', view, wanted })
      const { status, text, json } = await eve(path, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body,
      })
      assert.equal(status, 201, text)
      return json().metadata.annotations?.['oriel/explanation'] ?? ''
    }
    const told = await eventually(
      () => ask('concealed'),
      text => text.includes('told to users who may get it'),
    )
    const { steps } = JSON.parse(told) as Explanation
    assert.ok(steps.some(({ reason }) => /spec\.resources\[0\]\.where/.test(reason ?? '')))
    assert.doesNotMatch(told, hidden)
    for (const name of ['shown', 'none'])
      assert.equal((await ask(name)).replaceAll(name, 'concealed'), told, name)
    eve.close()
  })
})
