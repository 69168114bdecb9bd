import assert from 'node:assert/strict'
import type { KubeObject } from '../../../framework/index.ts'
import type { TestReply, TestUser } from '../../../testing/index.ts'
import { configMap, everything, mapsIn, ownView, Scene } from './scene.ts'

const rbac = 'rbac.authorization.k8s.io'
/** As the bootstrap of servers has it: views act with this group in the logical cluster. */
export const systemRoles = [
  {
    apiVersion: `${rbac}/v1`,
    kind: 'ClusterRole',
    metadata: { name: 'admin' },
    rules: [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }],
  },
  {
    apiVersion: `${rbac}/v1`,
    kind: 'ClusterRoleBinding',
    metadata: { name: 'admin' },
    subjects: [{ kind: 'Group', apiGroup: rbac, name: 'system:kcp:admin' }],
    roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: 'admin' },
  },
] as readonly KubeObject[]

/** The user ada may do everything with the content of the View `red`, and nothing else. */
const permissions = [
  {
    apiVersion: `${rbac}/v1`,
    kind: 'ClusterRole',
    metadata: { name: 'red-view' },
    rules: [
      {
        apiGroups: ['views.oriel.dev'],
        resources: ['views/content'],
        resourceNames: ['red'],
        verbs: everything,
      },
      { nonResourceURLs: ['/'], verbs: ['access'] },
    ],
  },
  {
    apiVersion: `${rbac}/v1`,
    kind: 'ClusterRoleBinding',
    metadata: { name: 'red-view' },
    subjects: [{ kind: 'User', apiGroup: rbac, name: 'ada' }],
    roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: 'red-view' },
  },
  ...systemRoles,
] as readonly KubeObject[]

const traces = ['sesame', 'token', 'internal', 'topsecret', 'blue', 'concealed']
const red = {
  resource: 'configmaps',
  verbs: everything,
  where: "has(object.data) && 'color' in object.data && object.data.color == 'red'",
  hide: ['data.token', 'metadata.annotations.internal'],
}

/** A config map with a hidden field and a hidden annotation. */
export const mapWith = (name: string, color: string): KubeObject => {
  const object = configMap(name, { paint: color }, { color, token: 'sesame' })
  return { ...object, metadata: { ...object.metadata, annotations: { internal: 'topsecret' } } }
}

export type StoredMap = KubeObject & { readonly data?: Readonly<Record<string, string>> }

/** The config maps of the logical cluster `one`, without the View. */
export const plain = '/clusters/one/api/v1/namespaces/default/configmaps'
/** Those of the View `red`. */
export const maps = mapsIn('red')

/** The View `red` of config maps, of which `shown` is in the View and `concealed` is not, and a user who has nothing but this View. */
export class TenantScene {
  readonly scene: Scene
  readonly ada: TestUser

  private constructor(scene: Scene) {
    this.scene = scene
    this.ada = scene.oriel.as({ name: 'ada', groups: ['system:authenticated'] })
  }

  static async start(): Promise<TenantScene> {
    const scene = await Scene.start(...permissions, mapWith('shown', 'red'), mapWith('concealed', 'blue'))
    await scene.oriel.cluster('two', mapWith('elsewhere', 'red'))
    await scene.view(ownView('red', red))
    await scene.view(ownView('all', { resource: 'configmaps', verbs: everything }))
    return new TenantScene(scene)
  }

  send(method: string, path: string, body?: object, type?: string): Promise<TestReply> {
    const headers = type === undefined ? {} : { 'content-type': type }
    return this.ada.request(path, { method, headers, ...(body && { body }) })
  }

  async stored(name: string): Promise<StoredMap> {
    return (await this.scene.admin.request(`${plain}/${name}`)).object as StoredMap
  }

  /** The response is that for an object that does not exist; `rest` is a query or a subresource. */
  async isMissing(method: string, rest = '', body?: (name: string) => object, type?: string): Promise<void> {
    const about = (name: string) => this.send(method, `${maps}/${name}${rest}`, body?.(name), type)
    const [hidden, none] = [await about('concealed'), await about('nonexists')]
    assert.equal(hidden.status, none.status, hidden.text)
    assert.equal(hidden.status, rest.startsWith('/') ? 403 : 404, hidden.text)
    assert.equal(hidden.text.replaceAll('concealed', 'nonexists'), none.text)
    assert.equal((await this.stored('concealed')).data?.color, 'blue')
  }
}

/** Fails for a text with anything hidden in it. */
export function isSilent(text: string): void {
  for (const trace of traces) assert.ok(!text.includes(trace), `${trace} is in ${text}`)
}
