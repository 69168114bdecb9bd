import assert from 'node:assert/strict'
import type { KubeObject } from '../../../framework/index.ts'
import { AdminScene } from '../../../test/support/views/adminscene.ts'
import { startInstallation } from '../../../testing/index.ts'
import { views } from '../index.ts'
import type { ViewObject, ViewResource } from '../types.ts'

/** A View of the logical cluster `one` itself. */
export const ownView = (name: string, ...resources: readonly ViewResource[]): KubeObject => ({
  apiVersion: 'views.oriel.dev/v1alpha1',
  kind: 'View',
  metadata: { name },
  spec: { source: { cluster: '.' }, resources },
})

export const configMap = (
  name: string,
  labels: Readonly<Record<string, string>> = {},
  data: Readonly<Record<string, string>> = {},
): KubeObject => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, labels }, data })

export const everything = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection']

export const configMapsWhere = (where: string, more: Partial<ViewResource> = {}): ViewResource => ({
  resource: 'configmaps',
  verbs: everything,
  where,
  ...more,
})

/** An installation with Views and an administrator. */
export class Scene extends AdminScene {
  static async start(...objects: readonly KubeObject[]): Promise<Scene> {
    const oriel = await startInstallation({ plugins: [() => views] })
    await oriel.cluster('one', ...objects)
    return new Scene(oriel)
  }

  /** Creates or replaces a View, and waits for its conditions. */
  async view(object: KubeObject): Promise<ViewObject> {
    const path = '/clusters/one/apis/views.oriel.dev/v1alpha1/views'
    const name = object.metadata.name ?? ''
    const made = await this.admin.request(path, { method: 'POST', body: object })
    if (made.status === 409) {
      const patched = await this.admin.request(`${path}/${name}`, {
        method: 'PATCH',
        body: { spec: object.spec },
      })
      assert.equal(patched.status, 200, patched.text)
    } else assert.equal(made.status, 201, made.text)
    return this.status(
      name,
      ({ status, metadata }) =>
        (status?.conditions ?? []).length > 0 && status?.observedGeneration === metadata.generation,
    )
  }

  /** The View, when its status is as wanted. */
  async status(name: string, isWanted: (view: ViewObject) => boolean): Promise<ViewObject> {
    const path = `/clusters/one/apis/views.oriel.dev/v1alpha1/views?fieldSelector=metadata.name%3D${name}`
    const watch = await this.admin.watch(path)
    try {
      const isEnough = (view: unknown): boolean => isWanted(view as ViewObject)
      const events = await watch.until(all => all.some(({ object }) => isEnough(object)))
      return events.findLast(({ object }) => isEnough(object))?.object as ViewObject
    } finally {
      watch.close()
    }
  }
}

/** The path of the config maps of a View, in all namespaces. */
export const mapsOf = (view: string, cluster = '*'): string =>
  `/services/views/one/${view}/clusters/${cluster}/api/v1/configmaps`
export const mapsIn = (view: string): string =>
  `/services/views/one/${view}/clusters/one/api/v1/namespaces/default/configmaps`

export const namesOf = (objects: readonly KubeObject[]): readonly string[] =>
  objects.map(({ metadata }) => metadata.name ?? '')
