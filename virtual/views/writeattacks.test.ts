import assert from 'node:assert/strict'
import { configMap, mapsOf } from './testing/scene.ts'
import { isSilent, maps, plain, TenantScene } from './testing/tenant.ts'

const jsonPatch = 'application/json-patch+json'

describe('a tenant who writes through a View', () => {
  let tenant: TenantScene
  beforeEach(async () => {
    tenant = await TenantScene.start()
  })
  afterEach(() => tenant.scene.oriel.close())

  it('cannot tell a hidden object from none by its name, with any verb', async () => {
    const whole = (name: string) => configMap(name, {}, { color: 'red' })
    await tenant.isMissing('GET')
    await tenant.isMissing('PUT', '', whole)
    await tenant.isMissing('PATCH', '', () => ({ data: { color: 'red' } }))
    await tenant.isMissing(
      'PATCH',
      '',
      () => [{ op: 'test', path: '/data/color', value: 'blue' }] as never,
      jsonPatch,
    )
    await tenant.isMissing('DELETE')
    await tenant.isMissing('DELETE', '', () => ({ preconditions: { uid: 'x' } }))
    await tenant.isMissing('DELETE', '?dryRun=All')
    await tenant.isMissing('GET', '?resourceVersion=1')
  })

  for (const [type, body] of [
    ['application/merge-patch+json', { data: { token: null } }],
    ['application/merge-patch+json', { metadata: { annotations: { internal: 'mine' } } }],
    ['application/strategic-merge-patch+json', { data: { $patch: 'replace', color: 'red' } }],
    ['application/json-patch+json', [{ op: 'replace', path: '/data', value: { color: 'red' } }]],
    ['application/json-patch+json', [{ op: 'copy', from: '/data/token', path: '/data/copied' }]],
    ['application/json-patch+json', [{ op: 'test', path: '/data/token', value: 'sesame' }]],
  ] as const)
    it(`cannot read, change or remove a hidden field by ${type} ${JSON.stringify(body)}`, async () => {
      const before = await tenant.stored('shown')
      const { text } = await tenant.send('PATCH', `${maps}/shown`, body as object, type)
      assert.ok(!text.includes('sesame') && !text.includes('topsecret'), text)
      const after = await tenant.stored('shown')
      assert.equal(after.data?.token, 'sesame')
      assert.equal(after.metadata.annotations?.internal, 'topsecret')
      assert.ok(!JSON.stringify(after).includes('copied'))
      assert.equal(after.metadata.uid, before.metadata.uid)
    })

  it('cannot apply hidden fields or see their owners, also by force', async () => {
    const { apiVersion, kind } = configMap('shown')
    const apply = (name: string, data: object, force = '&force=true') =>
      tenant.send(
        'PATCH',
        `${maps}/${name}?fieldManager=ada${force}`,
        { apiVersion, kind, metadata: { name }, data },
        'application/apply-patch+yaml',
      )
    const own = await apply('shown', { token: 'mine' })
    assert.equal(own.status, 422, own.text)
    const quiet = await apply('shown', { color: 'red', size: '1' })
    assert.equal(quiet.status, 200, quiet.text)
    isSilent(quiet.text)
    assert.equal((await tenant.stored('shown')).data?.token, 'sesame')
    const hidden = await apply('concealed', { color: 'red' })
    assert.ok(hidden.status >= 400, hidden.text)
    assert.equal((await tenant.stored('concealed')).data?.color, 'blue')
  })

  for (const part of ['status', 'scale', 'finalize', 'eviction', 'log', 'exec', 'token'])
    it(`has no subresource ${part}, neither of a hidden object nor of none`, async () => {
      await tenant.isMissing('GET', `/${part}`)
      await tenant.isMissing('PUT', `/${part}`, name => configMap(name, {}, { color: 'red' }))
      await tenant.isMissing('PATCH', `/${part}`, () => ({ data: { color: 'red' } }))
      const { status } = await tenant.send('GET', `${maps}/shown/${part}`)
      assert.ok(status >= 403, String(status))
    })

  it('deletes shown objects only, by name and as a collection', async () => {
    await tenant.isMissing('DELETE')
    for (const selector of ['?labelSelector=paint%3Dblue', '?fieldSelector=metadata.name%3Dconcealed', ''])
      assert.equal((await tenant.send('DELETE', `${maps}${selector}`)).status, 200)
    assert.equal((await tenant.stored('concealed')).data?.color, 'blue')
    assert.equal((await tenant.scene.admin.request(`${plain}/shown`)).status, 404)
    assert.ok((await tenant.send('DELETE', mapsOf('red'))).status >= 400)
  })

  it('cannot take an object out of the View, nor create one outside of it', async () => {
    const out = await tenant.send('PATCH', `${maps}/shown`, { data: { color: 'blue' } })
    assert.equal(out.status, 403, out.text)
    const made = await tenant.send('POST', maps, configMap('mine', {}, { color: 'blue' }))
    assert.equal(made.status, 403, made.text)
    assert.equal((await tenant.scene.admin.request(`${plain}/mine`)).status, 404)
    assert.equal((await tenant.stored('shown')).data?.color, 'red')
  })

  it('learns of a hidden object no more than that its name is taken', async () => {
    const taken = await tenant.send('POST', maps, configMap('concealed', {}, { color: 'red' }))
    const own = await tenant.send('POST', maps, configMap('shown', {}, { color: 'red' }))
    assert.equal(taken.status, 409, taken.text)
    assert.equal(taken.text.replaceAll('concealed', 'shown'), own.text)
    const tried = await tenant.send(
      'POST',
      `${maps}?dryRun=All`,
      configMap('concealed', {}, { color: 'red' }),
    )
    assert.equal(tried.text, taken.text)
    // What the View does not accept is refused before the name is looked up.
    const outside = await tenant.send('POST', maps, configMap('concealed', {}, { color: 'green' }))
    assert.equal(outside.status, 403, outside.text)
  })
})
