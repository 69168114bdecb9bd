import { rbacGroup } from '../../authz/rbac/rbacsource.ts'
import type { Informers } from '../../framework/contract/informer.ts'
import { type RbacIndex, rbacResources } from './rbacindex.ts'

/** Feeds an index: what the informers hold, at once, and every change. With the shard's own, acknowledged writes count. */
export function followRbac(informers: Informers, index: RbacIndex): void {
  for (const resource of rbacResources) {
    const objects = informers.for({ group: rbacGroup, version: 'v1', resource })
    objects.onEvent(event => index.apply(resource, event))
  }
}
