import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { KubeObject } from '../../../framework/index.ts'
import { type Client, clientOf } from '../../support/client.ts'
import { discard, eventually, type Oriel, startOriel } from '../../support/oriel.ts'
import { temporaryDirectory } from '../../support/temporary.ts'
import { apply, createWorkspaces, type Tenant } from '../../support/tenants.ts'
import { userAt } from '../../support/watcher.ts'

/** Views of config maps, one for each lens. */
const module = `
const lenses = {
  masked: {
    relabel: ({ labels }) => ({ labels: { shown: labels.shown ?? '' }, annotations: {} }),
    present(object) {
      delete object.metadata.managedFields
      object.data = { password: '***' }
      return object
    },
  },
  empty: { present() {} },
  sick: {
    narrow() {
      throw new Error('out of order')
    },
  },
}
export default ({ allow, apiSetOf, defineVirtualWorkspace, loopback, viewOf }) =>
  Object.entries(lenses).map(([name, lens]) =>
    defineVirtualWorkspace(name, '/services/' + name, ({ backend }) => {
      const configMaps = backend.apis('*').find('', 'v1', 'configmaps')
      const apis = apiSetOf([{ ...configMaps, storage: viewOf(configMaps.storage, () => lens) }])
      return { apis: () => apis, authorize: async () => allow('a test'), actAs: () => loopback }
    }),
  )
`
const password: KubeObject = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'a', namespace: 'default', labels: { hidden: 'secret', shown: 'yes' } },
  data: { password: 'sesame' },
}

describe('lenses of plugins', function () {
  this.timeout(120_000)
  let oriel: Oriel
  let tenant: Tenant
  let user: Client
  let ended = false
  const maps = (view: string): string =>
    `/services/${view}/clusters/${tenant.cluster}/api/v1/namespaces/default/configmaps`
  const names = async (selector: string): Promise<readonly unknown[]> =>
    (await user(`${maps('masked')}?labelSelector=${encodeURIComponent(selector)}`))
      .json<{ items: readonly KubeObject[] }>()
      .items.map(({ metadata }) => metadata.name)
      .filter(name => name === 'a')

  before(async () => {
    const directory = await temporaryDirectory('lenses')
    const view = join(directory, 'lenses.mjs')
    const tokens = join(directory, 'tokens.csv')
    await Promise.all([writeFile(view, module), writeFile(tokens, 'user-token,user,1\n')])
    oriel = await startOriel({ args: ['--token-auth-file', tokens, '--view', view] })
    ;[tenant] = (await createWorkspaces(oriel, ['one'])) as [Tenant]
    await apply(tenant.kubectl, password)
    user = await clientOf(userAt(oriel, oriel.viewsUrl, 'user-token'))
  })
  after(async () => void (ended || (await discard(oriel))))

  it('mask objects, and do not change stored objects', async () => {
    for (const path of [`${maps('masked')}/a`, maps('masked')]) {
      const { status, text } = await user(path)
      assert.equal(status, 200, text)
      assert.ok(text.includes('***') && !text.includes('sesame') && !text.includes('secret'), text)
    }
    await tenant.kubectl(['annotate', 'configmap', 'a', 'written=again'])
    const { data } = await tenant.kubectl.json<KubeObject>(['get', 'configmap', 'a'])
    assert.deepEqual(data, { password: 'sesame' })
  })

  it('cannot be probed with selectors', async () => {
    assert.deepEqual(await names('hidden=secret'), [])
    assert.deepEqual(await names('hidden!=secret'), ['a'])
    assert.deepEqual(await names('shown=yes'), ['a'])
  })

  it('are a 500 that names the view, when they return nothing', async () => {
    for (const path of [`${maps('empty')}/a`, maps('empty')]) {
      const { status, text } = await user(path)
      assert.equal(status, 500, text)
      assert.match(text, /the lens of the view \\"empty\\" failed: present must return an object/)
      assert.ok(!text.includes('sesame'), text)
    }
  })

  it('do not keep the server from ending, when a watch fails', async () => {
    const { status, text } = await user(`${maps('sick')}?watch=true`)
    assert.equal(status, 500, text)
    assert.match(text, /the lens of the view \\"sick\\" failed: narrow threw an error/)
    await eventually(
      async () => oriel.output(),
      output => output.includes('out of order'),
    )
    const begun = Date.now()
    await discard(oriel)
    ended = true
    assert.ok(Date.now() - begun < 10_000, `${Date.now() - begun} ms`)
  })
})
