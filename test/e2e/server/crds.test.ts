import assert from 'node:assert/strict'
import type { KubeObject } from '../../../framework/index.ts'
import { type Client, clientOf } from '../../support/client.ts'
import { apiResourceSchemaOf, foreignCrds, noForeignCrds } from '../../support/crds.ts'
import { minimalObject } from '../../support/minimal.ts'
import { notRun, skip } from '../../support/notrun.ts'
import { discard, kubectlFor, type Oriel } from '../../support/oriel.ts'
import { startServer } from '../../support/servers/kcp.ts'
import { apply, bind, bindingOf, createWorkspaces, publishedUrl, type Tenant } from '../../support/tenants.ts'
import { configAt } from '../../support/watcher.ts'

interface Definition {
  readonly group: string
  readonly scope: 'Namespaced' | 'Cluster'
  readonly names: { readonly plural: string; readonly kind: string }
  readonly versions: readonly { readonly name: string; readonly served: boolean; readonly storage: boolean }[]
}

const specOf = (crd: KubeObject) => crd.spec as Definition
const storageVersion = (crd: KubeObject): string => specOf(crd).versions.find(v => v.storage)?.name ?? ''

const crds = foreignCrds()

function servesForeignCrds(this: Mocha.Suite): void {
  this.timeout(180_000)
  let oriel: Oriel
  let owner: Tenant
  let provider: Tenant
  let consumer: Tenant
  let client: Client
  let view: Client
  before(async () => {
    oriel = await startServer()
    ;[owner, provider, consumer] = (await createWorkspaces(oriel, ['owner', 'provider', 'consumer'])) as [
      Tenant,
      Tenant,
      Tenant,
    ]
    client = await clientOf(configAt(oriel, `${oriel.url}/clusters/${owner.path}`))
  })
  after(() => oriel && discard(oriel))

  describe('in a workspace', () => {
    before(async () => {
      // Too long for the annotation of kubectl apply.
      const texts = crds.map(crd => JSON.stringify(crd)).join('\n')
      await owner.kubectl(['create', '-f', '-'], texts)
      const names = crds.map(crd => `crd/${crd.metadata.name}`)
      await owner.kubectl(['wait', '--for=condition=Established', '--timeout=60s', ...names])
    })

    it('are explained', async () => {
      for (const crd of crds) {
        const { group, names } = specOf(crd)
        const explained = await owner.kubectl(['explain', `${names.plural}.${group}`])
        assert.match(explained, new RegExp(`KIND:\\s+${names.kind}`))
      }
    })

    it('are created and applied, strictly, and listed', async () => {
      const objects = crds.map(crd => minimalObject(crd, storageVersion(crd), 'minimal'))
      const strictly = ['apply', '--validate=strict', '-f', '-']
      const text = (all: readonly KubeObject[]) => all.map(object => JSON.stringify(object)).join('\n')
      await owner.kubectl(strictly, text(objects))
      const labels = { again: 'yes' }
      await owner.kubectl(strictly, text(objects.map(o => ({ ...o, metadata: { ...o.metadata, labels } }))))
      for (const crd of crds) {
        const { group, names } = specOf(crd)
        const { items = [] } = (await client(`/apis/${group}/${storageVersion(crd)}/${names.plural}`)).json()
        assert.deepEqual(
          items.map(({ metadata }) => [metadata.name, metadata.labels]),
          [['minimal', labels]],
        )
      }
      const [first] = crds as [KubeObject]
      const { group, names } = specOf(first)
      assert.match(
        await owner.kubectl(['get', `${names.plural}.${group}`, '-A']),
        /^NAMESPACE +NAME .*\ndefault +minimal/,
      )
    })

    it('refuse objects that do not match their schemas', async () => {
      for (const crd of crds) {
        const { group, names, scope } = specOf(crd)
        const version = storageVersion(crd)
        const where = scope === 'Namespaced' ? '/namespaces/default' : ''
        const object = { ...minimalObject(crd, version, 'bad'), spec: 'none' }
        const reply = await client(`/apis/${group}/${version}${where}/${names.plural}`, {
          method: 'POST',
          body: object,
        })
        assert.equal(reply.status, 422, `${names.plural}: ${reply.text}`)
        assert.match(reply.json().message ?? '', /must be of type object: "string"/)
      }
    })
  })

  describe('exported', () => {
    before(async () => {
      const schemas = crds.map(crd => apiResourceSchemaOf(crd, 'v1'))
      await provider.kubectl(['create', '-f', '-'], schemas.map(schema => JSON.stringify(schema)).join('\n'))
      const resources = crds.map((crd, i) => {
        const { group, names } = specOf(crd)
        return { group, name: names.plural, schema: schemas[i]?.metadata.name, storage: { crd: {} } }
      })
      await apply(provider.kubectl, {
        apiVersion: 'apis.kcp.io/v1alpha2',
        kind: 'APIExport',
        metadata: { name: 'everything' },
        spec: { resources },
      })
      await provider.kubectl(['wait', '--for=condition=IdentityValid', 'apiexport/everything'])
      await bind(consumer, bindingOf(provider, 'everything', []))
      const objects = crds.map(crd => minimalObject(crd, storageVersion(crd), 'bound'))
      await consumer.kubectl(['create', '-f', '-'], objects.map(object => JSON.stringify(object)).join('\n'))
      const url = await publishedUrl(provider, 'everything')
      view = await clientOf(configAt(oriel, `${url}/clusters/*`))
    })

    for (const crd of crds) {
      const { group, names, versions } = specOf(crd)
      it(`${names.plural}.${group} is discovered, described and listed through the view`, async () => {
        for (const { name } of versions.filter(each => each.served)) {
          const path = `/apis/${group}/${name}`
          const { resources } = (await view(path)).json<{ resources: { name: string; kind: string }[] }>()
          assert.equal(resources.find(each => each.name === names.plural)?.kind, names.kind, path)
          const document = (await view(`/openapi/v3${path}`)).json<{
            components: { schemas: Record<string, object> }
          }>()
          const models = Object.values(document.components.schemas)
          const kind = { group, version: name, kind: names.kind }
          assert.ok(
            models.some(model =>
              JSON.stringify(Reflect.get(model, 'x-kubernetes-group-version-kind') ?? []).includes(
                JSON.stringify(kind.kind),
              ),
            ),
          )
          const { items = [] } = (await view(`${path}/${names.plural}`)).json()
          assert.deepEqual(
            items.map(item => [
              item.apiVersion,
              item.metadata.name,
              item.metadata.annotations?.['kcp.io/cluster'],
            ]),
            [[`${group}/${name}`, 'bound', consumer.cluster]],
          )
        }
      })
    }

    it('are usable with kubectl', async function () {
      if (process.env.KCP_BIN) skip(this, "kcp's views list a version v1 that they do not serve")
      const url = await publishedUrl(provider, 'everything')
      const kubectl = kubectlFor(oriel, 'base').at(`${url}/clusters/${consumer.cluster}`)
      const listed = await kubectl(['api-resources', '--no-headers', '-o', 'name'])
      for (const crd of crds)
        assert.ok(listed.split('\n').includes(crd.metadata.name ?? ''), crd.metadata.name)
      const { group, names } = specOf(crds[0] as KubeObject)
      assert.match(await kubectl(['explain', `${names.plural}.${group}.spec`]), /FIELDS:/)
    })
  })
}

const title = 'CustomResourceDefinitions of other projects'
if (crds.length === 0) notRun(title, noForeignCrds)
else describe(title, servesForeignCrds)
