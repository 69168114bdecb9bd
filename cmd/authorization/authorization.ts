import {
  type AuthorizationSources,
  type AuthorizerOptions,
  createAuthorizer,
  createExplainer,
  createRbacIndex,
  createStamps,
  detailsFromSources,
  type Explainer,
  escalationPrevention,
  followRbac,
  type Missing,
  missingIn,
  reviewStorages,
  webhookDefaults,
} from '../../authz/index.ts'
import type { Action, Authorizer } from '../../framework/contract/authorizer.ts'
import type { Informers } from '../../framework/contract/informer.ts'
import type { VirtualWorkspace } from '../../framework/contract/workspace.ts'
import type { UserInfo } from '../../framework/request/user.ts'

import { boundExportsOf } from '../../shard/bindings/boundexports.ts'
import type { BoundSets } from '../../shard/bindings/boundsets.ts'
import { clusterStatesOf } from '../../shard/tenancy/clusterstates.ts'
import { authorizationWebhook } from '../authentication/webhooks.ts'
import type { FileWatchEnding } from '../files/follow.ts'
import type { StartFlags } from '../flags/start.ts'

/** The options of the authorizer that flags set. */
export type AuthorizationOptions = Partial<Pick<AuthorizerOptions, 'order' | 'alwaysAllowPaths' | 'webhook'>>

/** Authorization by the RBAC objects of a shard, in the parts that `openShard` takes. */
export interface AuthorizationParts {
  authorizer(informers: Informers, bound: BoundSets): Authorizer
  reviews(authorizer: Authorizer): ReturnType<typeof reviewStorages>
  admission(authorizer: Authorizer): ReturnType<typeof escalationPrevention>
  /** The RBAC rules that are missing for an action. */
  missing(authorizer: Authorizer): Explaining['missing']
  /** Sets the served views, whose decisions are explained too. */
  explains(views: readonly VirtualWorkspace[]): void
}

interface Explaining {
  readonly explainer: Explainer
  readonly missing: (user: UserInfo, action: Action) => readonly Missing[]
}

/** Authorization as the flags configure it. Throws `StartError` on an invalid webhook kubeconfig. */
export async function prepareAuthorization(
  options: StartFlags,
  ending: FileWatchEnding,
): Promise<AuthorizationParts> {
  const { authorizationOrder: order, authorizationAlwaysAllowPaths: alwaysAllowPaths } = options
  const webhook = await webhookOf(options, ending)
  return authorizationParts({
    ...(order && { order }),
    ...(alwaysAllowPaths && { alwaysAllowPaths }),
    ...(webhook && { webhook }),
  })
}

async function webhookOf(options: StartFlags, ending: FileWatchEnding): Promise<Authorizer | undefined> {
  const file = options.authorizationWebhookConfigFile
  if (file === undefined) return undefined
  const webhook = {
    version: options.authorizationWebhookVersion ?? webhookDefaults.version,
    allowedFor: options.authorizationWebhookCacheAuthorizedTtl ?? webhookDefaults.allowedFor,
    refusedFor: options.authorizationWebhookCacheUnauthorizedTtl ?? webhookDefaults.refusedFor,
  }
  return authorizationWebhook(file, webhook, ending)
}

export function authorizationParts(options: AuthorizationOptions = {}): AuthorizationParts {
  const stamps = createStamps()
  const rbac = createRbacIndex(stamps.changed)
  const explaining = new WeakMap<Authorizer, Explaining>()
  let served: readonly VirtualWorkspace[] = []
  const explainingOf = (authorizer: Authorizer): Explaining => {
    const known = explaining.get(authorizer)
    if (known === undefined) throw new Error('unknown authorizer')
    return known
  }
  return {
    authorizer(informers, bound) {
      followRbac(informers, rbac)
      const sources: AuthorizationSources = {
        rbac,
        clusters: clusterStatesOf(informers, stamps.changed),
        exports: boundExportsOf(informers, bound, stamps.changed),
      }
      const authorizer = createAuthorizer({ ...sources, ...options, stamps })
      const details = detailsFromSources(authorizer, sources)
      explaining.set(authorizer, {
        explainer: createExplainer({ authorizer, details, views: () => served }),
        missing: (user, action) => missingIn(sources, user, action),
      })
      return authorizer
    },
    reviews: authorizer => reviewStorages(authorizer, rbac, explainingOf(authorizer).explainer),
    admission: authorizer => escalationPrevention(rbac, authorizer),
    missing: authorizer => explainingOf(authorizer).missing,
    explains(views) {
      served = views
    },
  }
}
