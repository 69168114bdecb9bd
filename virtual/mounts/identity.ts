import type { HeaderFields, UserInfo } from '../../framework/index.ts'
import type { KubeCluster } from './types.ts'

const originKey = 'mounts.contrib.kcp.io/cluster'

/**
 * For whom the stored credentials act (chapter 30, section 4.7.4). The prefix keeps callers from being anybody that the
 * other cluster knows by itself, its `system:` users and groups above all.
 */
export function identityFields({ spec }: KubeCluster, user: UserInfo, cluster: string): HeaderFields {
  if (spec.identity?.mode === 'Shared') return {}
  const prefix = spec.identity?.prefix || 'oriel:'
  return {
    'Impersonate-User': safe(prefix + user.name),
    ...(user.groups.length > 0 && { 'Impersonate-Group': user.groups.map(group => safe(prefix + group)) }),
    [`Impersonate-Extra-${encodeURIComponent(originKey)}`]: cluster,
  }
}

/** Header values are bytes; what is not ASCII would arrive as somebody else. */
const safe = (name: string): string => (/^[\x20-\x7e]*$/.test(name) ? name : encodeURIComponent(name))
