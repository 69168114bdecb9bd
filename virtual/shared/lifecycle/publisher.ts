import type { KubeObject, UrlPublisher } from '../../../framework/index.ts'
import type { Clusters } from './clusters.ts'
import type { Stage } from './stage.ts'
import type { LifecycleParams, PublishedUrl, WorkspaceType } from './types.ts'

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
    const cluster = metadata.annotations?.['kcp.io/cluster']
    return cluster === undefined ? undefined : [{ identifier: `${cluster}:${metadata.name ?? ''}` }]
  },
  publish: (object, urls) => published(stage, object, urls),
})

function published({ name }: Stage, object: KubeObject, urls: readonly string[]): KubeObject {
  const { status } = object as WorkspaceType
  const known = status?.virtualWorkspaces ?? []
  const own = known.filter(({ type }) => type === name).map(({ url }) => url)
  if (own.join(' ') === urls.join(' ')) return object
  const entries: readonly PublishedUrl[] = urls.map(url => ({ url, type: name }))
  const others = known.filter(({ type }) => type !== name)
  const all = name === 'initializing' ? [...entries, ...others] : [...others, ...entries]
  return { ...object, status: { ...status, virtualWorkspaces: all } }
}
