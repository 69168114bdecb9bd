import type { KubeObject, UrlPublisher } from '../../../framework/index.ts'
import type { VirtualWorkspaceUrl, WorkspaceType } from '../../../kcp/index.ts'
import { clusterAnnotation } from '../../../kcp/index.ts'
import type { Clusters } from './clusters.ts'
import type { LifecycleParams, Stage } from './stage.ts'

/**
 * Publishes the view's URL in every WorkspaceType, whether it has an initializer or not (chapter 20, section 4.3). A type
 * lists both views' URLs, the initializing one first.
 */
export const typePublisher = (stage: Stage, clusters: Clusters): UrlPublisher<LifecycleParams> => ({
  get objects() {
    return clusters.types
  },
  dependsOn: [],
  views: ({ metadata }) => {
    const cluster = metadata.annotations?.[clusterAnnotation]
    return cluster === undefined ? undefined : [{ identifier: `${cluster}:${metadata.name ?? ''}` }]
  },
  publish: (object, urls) => published(stage, object, urls),
})

function published({ name }: Stage, object: KubeObject, urls: readonly string[]): KubeObject {
  const { status } = object as WorkspaceType
  const known = status?.virtualWorkspaces ?? []
  const own = known.filter(({ type }) => type === name).map(({ url }) => url)
  if (own.join(' ') === urls.join(' ')) return object
  const entries: readonly VirtualWorkspaceUrl[] = urls.map(url => ({ url, type: name }))
  const others = known.filter(({ type }) => type !== name)
  const all = name === 'initializing' ? [...entries, ...others] : [...others, ...entries]
  return { ...object, status: { ...status, virtualWorkspaces: all } }
}
