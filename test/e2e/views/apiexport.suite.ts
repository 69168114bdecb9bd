import assert from 'node:assert/strict'
import type { KubernetesObject } from '@kubernetes/client-node'
import type { KubeObject } from '../../../framework/index.ts'
import { certificates } from '../../support/crds.ts'
import { discard, eventually, type Kubectl, kubectlFor, type Oriel } from '../../support/oriel.ts'
import {
  apply,
  bind,
  bindingOf,
  createWorkspaces,
  exportApi,
  publishedUrl,
  type Tenant,
} from '../../support/tenants.ts'
import { configAt, request, type Seen, type Watcher, watch } from '../../support/watcher.ts'

const certificatesPath = '/apis/cert-manager.io/v1/certificates'

const certificate = (name: string): KubeObject => ({
  apiVersion: 'cert-manager.io/v1',
  kind: 'Certificate',
  metadata: { name, namespace: 'default' },
  spec: { secretName: name, dnsNames: [`${name}.example.com`], issuerRef: { name: 'ca' } },
})

/** An API of a second provider, which claims certificates. */
const claims: KubeObject = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'audits.claims.example.com' },
  spec: {
    group: 'claims.example.com',
    names: { plural: 'audits', singular: 'audit', kind: 'Audit', listKind: 'AuditList' },
    scope: 'Namespaced',
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
  },
}

const configMap = (name: string, labels: Record<string, string> = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'default', labels },
  data: { owner: name },
})

const claim = (state: 'Accepted' | 'Rejected', selector: object = { matchAll: true }) => ({
  group: '',
  resource: 'configmaps',
  verbs: ['*'],
  selector,
  state,
})

const clusterOf = (object: KubernetesObject): string | undefined =>
  object.metadata?.annotations?.['kcp.io/cluster']
const about = (type: string, name: string, cluster: string) => (seen: Seen) =>
  seen.type === type && seen.object.metadata?.name === name && clusterOf(seen.object) === cluster

interface List {
  readonly items: readonly KubernetesObject[]
}

/** The tests of the view, for the embedded and the separate process. */
export const apiexportFlows = (start: () => Promise<Oriel>) =>
  function (this: Mocha.Suite): void {
    this.timeout(180_000)
    let oriel: Oriel
    let provider: Tenant
    let consumers: readonly Tenant[]
    let one: Tenant
    let url: string
    let all: Kubectl
    const in_ = (tenant: Tenant): Kubectl => all.at(`${url}/clusters/${tenant.cluster}`)

    before(async () => {
      oriel = await start()
      const tenants = await createWorkspaces(oriel, ['provider', 'red', 'green', 'blue'])
      provider = tenants[0] as Tenant
      consumers = tenants.slice(1)
      one = consumers[0] as Tenant
      const name = await exportApi(provider, certificates(), [{ group: '', resource: 'configmaps' }])
      await Promise.all(consumers.map(c => bind(c, bindingOf(provider, name, [claim('Accepted')]))))
      await Promise.all(consumers.map(c => apply(c.kubectl, certificate('web'), configMap('settings'))))
      url = await publishedUrl(provider, name)
      all = kubectlFor(oriel, 'base').at(`${url}/clusters/*`)
    })
    after(() => discard(oriel))

    const names = async (kubectl: Kubectl, resource: string): Promise<readonly string[]> =>
      (await kubectl.json<List>(['get', resource, '-A'])).items
        .map(o => `${clusterOf(o)}/${o.metadata?.name}`)
        .sort()

    it('lists the objects of all consumers, each with its logical cluster', async () => {
      assert.deepEqual(await names(all, 'certificates'), consumers.map(c => `${c.cluster}/web`).sort())
    })

    it('is published under the name of the logical cluster', () => {
      assert.equal(url, `${oriel.viewsUrl}/services/apiexport/${provider.cluster}/cert-manager.io`)
    })

    it('watches the objects of all consumers', async () => {
      const watcher = await watch(configAt(oriel, `${url}/clusters/*`), certificatesPath)
      try {
        for (const consumer of consumers) await watcher.next(about('ADDED', 'web', consumer.cluster))
        await apply(one.kubectl, certificate('new'))
        await watcher.next(about('ADDED', 'new', one.cluster))
        await one.kubectl(['label', 'certificate', 'new', 'a=b'])
        await watcher.next(about('MODIFIED', 'new', one.cluster))
        await one.kubectl(['delete', 'certificate', 'new'])
        await watcher.next(about('DELETED', 'new', one.cluster))
      } finally {
        watcher.stop()
      }
    })

    it('creates, reads, updates, patches and deletes in one logical cluster', async () => {
      const kubectl = in_(one)
      await kubectl(['create', '-f', '-'], JSON.stringify(certificate('crud')))
      const created = await kubectl.json<KubeObject>(['get', 'certificate', 'crud'])
      assert.equal(created.metadata.annotations?.['kcp.io/cluster'], one.cluster)
      await kubectl(
        ['replace', '-f', '-'],
        JSON.stringify({ ...created, spec: { ...(created.spec as object), secretName: 'put' } }),
      )
      await kubectl([
        'patch',
        'certificate',
        'crud',
        '--type=json',
        '-p',
        '[{"op":"replace","path":"/spec/secretName","value":"json"}]',
      ])
      await kubectl([
        'patch',
        'certificate',
        'crud',
        '--type=merge',
        '-p',
        '{"spec":{"dnsNames":["merge.example.com"]}}',
      ])
      await kubectl([
        'patch',
        'certificate',
        'crud',
        '--subresource=status',
        '--type=merge',
        '-p',
        '{"status":{"revision":7}}',
      ])
      const seen = await one.kubectl.json<KubeObject>(['get', 'certificate', 'crud'])
      assert.deepEqual(seen.spec, {
        secretName: 'json',
        dnsNames: ['merge.example.com'],
        issuerRef: { name: 'ca' },
      })
      assert.deepEqual(seen.status, { revision: 7 })
      await kubectl(['delete', 'certificate', 'crud'])
      assert.equal((await one.kubectl.try(['get', 'certificate', 'crud'])).code, 1)
    })

    it('deletes a collection in one logical cluster only', async () => {
      await Promise.all(
        consumers.map(c =>
          apply(c.kubectl, {
            ...certificate('many'),
            metadata: { name: 'many', namespace: 'default', labels: { many: 'yes' } },
          }),
        ),
      )
      await in_(one)(['delete', 'certificates', '-l', 'many=yes', '-n', 'default'])
      const left = (await names(all, 'certificates')).filter(name => name.endsWith('/many'))
      assert.deepEqual(
        left,
        consumers
          .filter(c => c !== one)
          .map(c => `${c.cluster}/many`)
          .sort(),
      )
    })

    it('serves bindings to the export, and no other unclaimed objects', async () => {
      assert.deepEqual(
        await names(all, 'apibindings'),
        consumers.map(c => `${c.cluster}/cert-manager.io`).sort(),
      )
      const config = configAt(oriel, `${url}/clusters/*`)
      for (const path of [
        '/api/v1/secrets',
        '/api/v1/namespaces',
        '/apis/rbac.authorization.k8s.io/v1/clusterroles',
      ])
        assert.equal((await request(config, path)).status, 404, path)
      assert.equal(
        (await in_(provider).try(['get', 'certificates'])).code,
        1,
        'the provider is not a consumer',
      )
    })

    describe('with claimed config maps', () => {
      let watcher: Watcher
      before(async () => {
        watcher = await watch(configAt(oriel, `${url}/clusters/*`), '/api/v1/configmaps')
      })
      after(() => watcher.stop())
      const set = (state: 'Accepted' | 'Rejected', selector?: object) =>
        apply(one.kubectl, bindingOf(provider, 'cert-manager.io', [claim(state, selector)]))

      it('serves them where the claim is accepted', async () => {
        for (const consumer of consumers) await watcher.next(about('ADDED', 'settings', consumer.cluster))
        assert.ok((await names(all, 'configmaps')).includes(`${one.cluster}/settings`))
      })

      it('removes them from a running watch when it is rejected, and adds them again', async () => {
        await set('Rejected')
        await watcher.next(about('DELETED', 'settings', one.cluster))
        assert.deepEqual(
          (await names(all, 'configmaps')).filter(n => n.startsWith(one.cluster)),
          [],
        )
        assert.match((await in_(one).try(['get', 'configmap', 'settings'])).stderr, /access denied/)
        const before = watcher.seen.length
        await set('Accepted')
        await eventually(
          async () => watcher.seen.slice(before),
          seen => seen.some(about('ADDED', 'settings', one.cluster)),
        )
      })

      it('does not change other consumers meanwhile', () => {
        const others = consumers.filter(c => c !== one).map(c => c.cluster)
        assert.ok(!watcher.seen.some(s => s.type === 'DELETED' && others.includes(clusterOf(s.object) ?? '')))
      })

      it('adds the labels of a selector, and refuses other values', async () => {
        const selective = consumers[1] as Tenant
        await selective.kubectl(['delete', 'apibinding', 'cert-manager.io'])
        const selector = { matchLabels: { shared: 'yes' } }
        await bind(selective, bindingOf(provider, 'cert-manager.io', [claim('Accepted', selector)]))
        await apply(selective.kubectl, configMap('chosen', { shared: 'yes' }))
        const visible = async () =>
          (await names(all, 'configmaps')).filter(n => n.startsWith(selective.cluster))
        assert.deepEqual(await eventually(visible, v => v.length > 0), [`${selective.cluster}/chosen`])
        await in_(selective)(['create', '-f', '-'], JSON.stringify(configMap('injected')))
        const injected = await selective.kubectl.json<KubeObject>(['get', 'configmap', 'injected'])
        assert.equal(injected.metadata.labels?.shared, 'yes')
        const refused = await in_(selective).try(
          ['create', '-f', '-'],
          JSON.stringify(configMap('wrong', { shared: 'no' })),
        )
        assert.match(refused.stderr, /protected label shared must have value yes/)
        assert.equal(
          (await in_(selective).try(['delete', 'configmap', 'settings'])).code,
          1,
          'outside the selector',
        )
      })
    })

    it('serves resources of another export, claimed by identity, where accepted', async () => {
      const [claimer] = (await createWorkspaces(oriel, ['claimer'])) as [Tenant]
      const identityHash = await provider.kubectl([
        ...['get', 'apiexport', 'cert-manager.io', '-o', 'jsonpath={.status.identityHash}'],
      ])
      const theirs = { group: 'cert-manager.io', resource: 'certificates', identityHash, verbs: ['*'] }
      const name = await exportApi(claimer, claims, [theirs])
      const accepted = { ...theirs, selector: { matchAll: true }, state: 'Accepted' }
      await bind(one, bindingOf(claimer, name, [accepted]))
      const other = consumers[1] as Tenant
      await bind(other, bindingOf(claimer, name, [{ ...accepted, state: 'Rejected' }]))
      const seen = kubectlFor(oriel, 'base').at(`${await publishedUrl(claimer, name)}/clusters/*`)
      const found = await eventually(
        () => names(seen, 'certificates'),
        all => all.length > 0,
      )
      assert.deepEqual(found, [`${one.cluster}/web`])
    })

    it('does not serve objects of another provider of the same API', async () => {
      const [other, guest] = (await createWorkspaces(oriel, ['other', 'guest'])) as [Tenant, Tenant]
      const name = await exportApi(other, certificates(), [])
      await bind(guest, bindingOf(other, name, []))
      await apply(guest.kubectl, certificate('foreign'))
      const theirs = kubectlFor(oriel, 'base').at(`${await publishedUrl(other, name)}/clusters/*`)
      assert.deepEqual(await names(theirs, 'certificates'), [`${guest.cluster}/foreign`])
      assert.ok(!(await names(all, 'certificates')).some(n => n.endsWith('/foreign')))
      const trespass = configAt(oriel, `${url}/clusters/${guest.cluster}`)
      assert.equal((await request(trespass, certificatesPath)).status, 403)
    })
  }
