import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { KubeObject } from '../../../../framework/index.ts'
import { type Client, clientOf } from '../../../support/client.ts'
import { type Kubectl, kubectlFor, type Oriel, startOriel } from '../../../support/oriel.ts'
import { root } from '../../../support/source.ts'
import { temporaryDirectory } from '../../../support/temporary.ts'
import { apply, rolesFor, type Tenant } from '../../../support/tenants.ts'
import { userAt, type Watcher, watch } from '../../../support/watcher.ts'

export const widget = (name: string, color: string): KubeObject => ({
  apiVersion: 'example.com/v1',
  kind: 'Widget',
  metadata: { name, namespace: 'default' },
  spec: { color },
})

export interface Resource {
  readonly group?: string
  readonly resource: string
  readonly verbs: readonly string[]
  readonly [field: string]: unknown
}

/** A View of the export of the provider. */
export const viewOfWidgets = (name: string, more: object, spec: object = {}): KubeObject => ({
  apiVersion: 'views.oriel.dev/v1alpha1',
  kind: 'View',
  metadata: { name },
  spec: {
    source: { apiExport: 'widgets.example.com' },
    resources: [
      {
        group: 'example.com',
        resource: 'widgets',
        verbs: ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete'],
        ...more,
      },
    ],
    ...spec,
  },
})

export const widgets = '/apis/example.com/v1/widgets'
export const widgetsIn = '/apis/example.com/v1/namespaces/default/widgets'

/** The consumers `red` and `green` of a provider. `ada` may use all Views of the provider, `bob` may write Views. */
export class ViewScene {
  readonly oriel: Oriel
  readonly admin: Kubectl
  readonly provider: Kubectl
  readonly consumers: Readonly<Record<'red' | 'green', Tenant>>

  private constructor(oriel: Oriel, consumers: ViewScene['consumers']) {
    this.oriel = oriel
    this.admin = kubectlFor(oriel, 'root')
    this.provider = this.admin.at('/clusters/root:provider')
    this.consumers = consumers
  }

  static async start(): Promise<ViewScene> {
    const directory = await temporaryDirectory('views')
    const tokens = join(directory, 'tokens.csv')
    await writeFile(tokens, 'ada-token,ada,1,"ops"\nbob-token,bob,2\neve-token,eve,3\n')
    const oriel = await startOriel({ directory, args: ['--token-auth-file', tokens] })
    const admin = kubectlFor(oriel, 'root')
    const walkthrough = (file: string) => ['apply', '-f', join(root, 'examples/walkthrough', file)]
    await admin(walkthrough('workspaces.yaml'))
    const all = ['provider', 'red', 'green'].map(name => `workspace/${name}`)
    await admin(['wait', '--for=jsonpath={.status.phase}=Ready', ...all])
    const provider = admin.at('/clusters/root:provider')
    await provider(walkthrough('provider.yaml'))
    const content = { apiGroups: ['views.oriel.dev'], resources: ['views/content'], verbs: ['*'] }
    const written = { apiGroups: ['views.oriel.dev'], resources: ['views'], verbs: ['*'] }
    await apply(provider, ...rolesFor('ada', content), ...rolesFor('bob', written, content))
    const tenant = async (name: string): Promise<Tenant> => {
      const kubectl = admin.at(`/clusters/root:${name}`)
      await kubectl(walkthrough('binding.yaml'))
      await kubectl(['wait', '--for=condition=Ready', 'apibinding/widgets'])
      const cluster = await admin(['get', 'workspace', name, '-o', 'jsonpath={.spec.cluster}'])
      return { path: `root:${name}`, cluster, kubectl }
    }
    return new ViewScene(oriel, { red: await tenant('red'), green: await tenant('green') })
  }

  /** Applies a View, and returns its URL when the View is ready. */
  async view(object: KubeObject): Promise<string> {
    const name = object.metadata.name ?? ''
    await apply(this.provider, object)
    const generation = await this.provider(['get', 'view', name, '-o', 'jsonpath={.metadata.generation}'])
    await this.provider(['wait', `--for=jsonpath={.status.observedGeneration}=${generation}`, `view/${name}`])
    await this.provider(['wait', '--for=condition=Ready', `view/${name}`])
    await this.provider(['wait', '--for=jsonpath={.status.endpoints[0].url}', `view/${name}`])
    return this.provider(['get', 'view', name, '-o', 'jsonpath={.status.endpoints[0].url}'])
  }

  as(user: string, url: string): Promise<Client> {
    return clientOf(userAt(this.oriel, url, `${user}-token`))
  }

  watch(user: string, url: string, query: Record<string, string> = {}): Promise<Watcher> {
    return watch(userAt(this.oriel, url, `${user}-token`), widgets, query)
  }

  label(workspace: string, ...labels: readonly string[]): Promise<string> {
    return this.admin(['label', 'workspace', workspace, '--overwrite', ...labels])
  }
}

/** `<cluster>/<name>` of the objects of a list. */
export const idsIn = (items: readonly KubeObject[] = []): readonly string[] =>
  items.map(({ metadata }) => `${metadata.annotations?.['kcp.io/cluster']}/${metadata.name}`).sort()
