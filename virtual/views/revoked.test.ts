import assert from 'node:assert/strict'
import { mapsOf } from './testing/scene.ts'
import { TenantScene } from './testing/tenant.ts'

const bindings = '/clusters/one/apis/rbac.authorization.k8s.io/v1/clusterrolebindings'
const views = '/clusters/one/apis/views.oriel.dev/v1alpha1/views'

describe('a tenant who watches through a View', () => {
  let tenant: TenantScene
  beforeEach(async () => {
    tenant = await TenantScene.start()
  })
  afterEach(() => tenant.scene.oriel.close())

  for (const [what, object] of [
    ['the permission is taken away', `${bindings}/red-view`],
    ['the View is deleted', `${views}/red`],
  ] as const)
    it(`loses the watch some seconds after ${what}`, async () => {
      const watch = await tenant.ada.watch(mapsOf('red'))
      await watch.until(events => events.length === 1)
      const { status, text } = await tenant.scene.admin.request(object, { method: 'DELETE' })
      assert.equal(status, 200, text)
      await assert.rejects(
        watch.until(() => false),
        /the watch has ended after \["ADDED shown"(,"ERROR")?\]/,
      )
      assert.equal((await tenant.send('GET', mapsOf('red'))).status, 403)
    })
})
