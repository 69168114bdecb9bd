import {
  type AuthorizationSources,
  type AuthorizerOptions,
  createAuthorizer,
  createExplainer,
  type Explainer,
  escalationPrevention,
  reviewStorages,
} from '../authz/index.ts'
import type { Authorizer } from '../framework/authorizer.ts'
import type { Informers } from '../framework/informer.ts'
import { boundExportsOf } from '../shard/boundexports.ts'
import { clusterStatesOf } from '../shard/clusterstates.ts'
import { followRbac } from '../shard/rbac.ts'
import { createRbacIndex } from '../shard/rbacindex.ts'

/** What flags say about authorization. */
export type AuthorizationOptions = Partial<Pick<AuthorizerOptions, 'order' | 'alwaysAllowPaths' | 'webhook'>>

/** Authorization by a shard's own objects: what `openShard` is given, in parts. */
export interface AuthorizationParts {
  authorizer(informers: Informers): Authorizer
  reviews(authorizer: Authorizer): ReturnType<typeof reviewStorages>
  admission(authorizer: Authorizer): ReturnType<typeof escalationPrevention>
  /** Of an authorizer that was made here. */
  explainer(authorizer: Authorizer): Explainer
}

export function authorizationParts(options: AuthorizationOptions = {}): AuthorizationParts {
  const rbac = createRbacIndex()
  const explainers = new WeakMap<Authorizer, Explainer>()
  const explainer = (authorizer: Authorizer): Explainer => {
    const known = explainers.get(authorizer)
    if (known === undefined) throw new Error('not an authorizer of these parts')
    return known
  }
  return {
    authorizer(informers) {
      followRbac(informers, rbac)
      const sources: AuthorizationSources = {
        rbac,
        clusters: clusterStatesOf(informers),
        exports: boundExportsOf(informers),
      }
      const authorizer = createAuthorizer({ ...sources, ...options })
      explainers.set(authorizer, createExplainer(authorizer, sources))
      return authorizer
    },
    reviews: authorizer => reviewStorages(authorizer, rbac, explainer(authorizer)),
    admission: authorizer => escalationPrevention(rbac, authorizer),
    explainer,
  }
}
