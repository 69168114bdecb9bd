import type { ResourceRef, UrlPublisher } from '../../framework/index.ts'
import type { KubeCluster } from './types.ts'

/** Where each cluster is reached, in its own status: mounts refer to it there. */
export const urlPublisher = (objects: ResourceRef): UrlPublisher => ({
  objects,
  dependsOn: [],
  views: () => [{}],
  publish(object, [base = '']) {
    const { metadata, status } = object as KubeCluster
    const cluster = metadata.annotations?.['kcp.io/cluster'] ?? ''
    const { group, version, resource } = objects
    const URL = `${base}/clusters/${cluster}/apis/${group}/${version}/${resource}/${metadata.name}/proxy`
    return status?.URL === URL ? object : { ...object, status: { ...status, URL } }
  },
})
