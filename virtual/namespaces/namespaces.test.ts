import assert from 'node:assert/strict'
import { viewContract } from '../../testing/index.ts'
import { idOf, Scene, viewOver } from './testing/scene.ts'

describe('the namespaces of the user', () => {
  let scene: Scene
  before(async () => {
    scene = await Scene.start('one', 'two', 'three')
    for (const cluster of ['one', 'two', 'three'])
      for (const name of ['blue', 'red']) await scene.create(cluster, name)
    await scene.label('one', 'red', { hint: 'sesame' })
    await scene.grant({ cluster: 'one', role: 'member', user: 'ada' })
    await scene.grant({ cluster: 'one', role: 'reader', user: 'ada', namespace: 'blue' })
    await scene.grant({ cluster: 'two', role: 'member', user: 'ada' })
    await scene.grant({ cluster: 'two', role: 'reader', user: 'ada' })
    // Without access to the workspace, a role in it gives nothing.
    await scene.grant({ cluster: 'three', role: 'reader', user: 'ada' })
  })
  after(() => scene.oriel.close())

  it('are those that the user may get, of all logical clusters', async () => {
    assert.deepEqual(await scene.listed('ada'), ['one/blue', 'two/blue', 'two/default', 'two/red'])
    assert.deepEqual(await scene.listed('ada', 'one'), ['one/blue'])
    assert.deepEqual(await scene.listed('eve'), [])
  })

  it('are all for administrators', async () => {
    const all = (await scene.admin.list(viewOver())).map(idOf)
    for (const cluster of ['one', 'two', 'three']) assert.ok(all.includes(`${cluster}/red`))
  })

  for (const { name, run } of viewContract({
    user: () => scene.oriel.as('ada'),
    path: viewOver('one'),
    shown: 'blue',
    hidden: 'red',
    secret: 'sesame',
    selectors: ['labelSelector=hint', 'labelSelector=hint%3Dsesame'],
  }))
    it(name, run)

  it('need access to a single logical cluster, which is refused as one that does not exist', async () => {
    const ada = scene.oriel.as('ada')
    const [closed, missing] = await Promise.all(['three', 'nothing'].map(each => ada.request(viewOver(each))))
    assert.equal(closed?.status, 403, closed?.text)
    assert.equal(closed?.text.replaceAll('three', 'nothing'), missing?.text)
  })

  it('are for authenticated users', async () => {
    const anonymous = await fetch(scene.oriel.url + viewOver())
    assert.ok([401, 403].includes(anonymous.status), await anonymous.text())
  })

  it('cannot be written, deleted or used for paths that the view does not serve', async () => {
    const path = viewOver('two')
    for (const [method, target] of [
      ['POST', path],
      ['PUT', `${path}/blue`],
      ['PATCH', `${path}/blue`],
      ['DELETE', `${path}/blue`],
      ['DELETE', path],
      ['PUT', `${path}/blue/finalize`],
      ['GET', `${path}/blue/secrets`],
    ] as const) {
      const { status, text } = await scene.oriel
        .as('ada')
        .request(target, { method, ...(method !== 'GET' && { body: {} }) })
      assert.ok([404, 405].includes(status), `${method} ${target}: ${status} ${text}`)
    }
  })

  describe('in pages', () => {
    const pageOf = async (query: string) => {
      const { status, text, object } = await scene.oriel.as('ada').request(`${viewOver()}?${query}`)
      assert.equal(status, 200, text)
      const { continue: token = '', remainingItemCount } = (object?.metadata ?? {}) as Record<string, string>
      return { names: (object?.items ?? []).map(idOf), token, remainingItemCount }
    }

    it('are full, and have tokens without names', async () => {
      const seen: string[] = []
      for (let token = ''; seen.length < 10; ) {
        const page = await pageOf(`limit=1${token && `&continue=${token}`}`)
        assert.equal(page.names.length, 1)
        assert.equal(page.remainingItemCount, undefined)
        seen.push(...page.names)
        token = page.token
        if (token === '') break
        assert.doesNotMatch(
          Buffer.from(token, 'base64url').toString('latin1'),
          /red|blue|default|one|two|three/,
        )
      }
      assert.deepEqual(seen.toSorted(), await scene.listed('ada'))
    })

    it('have no tokens of other users', async () => {
      const { token } = await pageOf('limit=1')
      const reply = await scene.oriel.as('eve').request(`${viewOver()}?limit=1&continue=${token}`)
      assert.equal(reply.status, 410, reply.text)
    })
  })
})

describe('a watch of the namespaces of the user', () => {
  let scene: Scene
  beforeEach(async () => {
    scene = await Scene.start('one', 'two')
  })
  afterEach(() => scene.oriel.close())

  it('follows access and namespaces', async () => {
    const watch = await scene.oriel.as('ada').watch(viewOver())
    const until = (line: string) => watch.until(() => watch.lines().at(-1) === line)
    await scene.grant({ cluster: 'one', role: 'member', user: 'ada' })
    await scene.create('one', 'late')
    await scene.grant({ cluster: 'one', role: 'reader', user: 'ada', namespace: 'late' })
    await until('ADDED late')
    await scene.grant({ cluster: 'two', role: 'member', user: 'ada' })
    await scene.grant({ cluster: 'two', role: 'reader', user: 'ada' })
    await until('ADDED default')
    await scene.create('two', 'new')
    await until('ADDED new')
    await scene.withdraw({ cluster: 'one', role: 'member', user: 'ada' })
    await until('DELETED late')
    assert.deepEqual(watch.lines(), ['ADDED late', 'ADDED default', 'ADDED new', 'DELETED late'])
    watch.close()
  })

  it('shows nothing of namespaces to which access was lost', async () => {
    const grants = (['member', 'reader'] as const).map(role => ({ cluster: 'one', role, user: 'ada' }))
    for (const grant of grants) await scene.grant(grant)
    const watch = await scene.oriel.as('ada').watch(viewOver())
    await watch.until(() => watch.lines().includes('ADDED default'))
    await scene.withdraw({ cluster: 'one', role: 'reader', user: 'ada' })
    await scene.label('one', 'default', { hint: 'sesame' })
    await scene.create('one', 'sesame')
    await scene.grant({ cluster: 'two', role: 'member', user: 'ada' })
    await scene.grant({ cluster: 'two', role: 'reader', user: 'ada' })
    const events = await watch.until(
      () => watch.lines().filter(line => line === 'ADDED default').length === 2,
    )
    assert.deepEqual(watch.lines(), ['ADDED default', 'DELETED default', 'ADDED default'])
    assert.ok(!JSON.stringify(events).includes('sesame'))
    watch.close()
  })

  it('expires when access has changed since its version', async () => {
    const { object } = await scene.oriel.as('ada').request(viewOver())
    await scene.grant({ cluster: 'one', role: 'member', user: 'ada' })
    await scene.listed('ada')
    const from = `${viewOver()}?watch=true&resourceVersion=${object?.metadata.resourceVersion}`
    const { status, text } = await scene.oriel.as('ada').request(from)
    assert.match(`${status} ${text}`, /410/)
  })
})
