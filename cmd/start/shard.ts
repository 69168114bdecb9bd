import { serviceAccountTokens, tokenIssuer } from '../../framework/authn/index.ts'
import { workspaceTokens } from '../../framework/authn/jwt/index.ts'
import type { ResourceRef } from '../../framework/contract/backend.ts'
import type { Informers } from '../../framework/contract/informer.ts'
import type { Logger } from '../../framework/contract/log.ts'
import type { Outbound } from '../../framework/contract/upstream.ts'
import type { OtherShards } from '../../framework/contract/workspace.ts'
import type { KubeObject } from '../../framework/meta/object.ts'
import { type AddressPolicy, createAddressPolicy } from '../../framework/net/addresspolicy.ts'
import type { ViewUrls } from '../../framework/publishing/publisher.ts'
import { parseLabelSelector } from '../../framework/selectors/parse.ts'
import { matchesLabels } from '../../framework/selectors/selectors.ts'
import { tokenExpressions } from '../../openapi/expressions/tokenexpressions.ts'
import type { DiskSpace, QuotaLimits } from '../../shard/admission/quota/quota.ts'
import type { Amounts } from '../../shard/admission/quota/tenants.ts'
import type { TenancyResources } from '../../shard/controllers/host.ts'
import { openShard, type Shard } from '../../shard/index.ts'
import { kcpParts, type ShardAddresses } from '../../shard/kcp.ts'
import { ViewedResources } from '../../shard/published/viewed.ts'
import type { Store } from '../../shard/store/store.ts'
import { workspaceIssuers } from '../../shard/tenancy/workspaceissuers.ts'
import { tokenParts } from '../../shard/tokens/index.ts'
import type { Authentication, PreparedAuthentication } from '../authentication/authentication.ts'
import { type AuthorizationParts, authorizationParts } from '../authorization/authorization.ts'
import { fill, type PreparedSharding } from './sharding.ts'

export interface EmbeddedOptions {
  readonly store: Store
  readonly sharding: PreparedSharding
  /** The certificate authority of the serving certificate, PEM. */
  readonly rootCA: string
  readonly authentication: PreparedAuthentication
  /** Private hosts, addresses and networks that token issuers of workspaces may use. */
  readonly issuerAllow?: readonly string[]
  /** Private hosts, addresses and networks that admission webhooks may use. */
  readonly webhookAllow?: readonly string[]
  readonly authorization?: AuthorizationParts
  /** Checks the URLs of mounts. */
  readonly outbound?: Pick<Outbound, 'refusalOf'>
  readonly quota?: QuotaLimits
  /** The groups whose users may have a home workspace; absent: all authenticated users. */
  readonly homeCreators?: readonly string[]
  readonly disk?: DiskSpace
  /** Milliseconds that events are kept; 0: for ever. */
  readonly eventTtl?: number
  /** Called with the number of objects loaded so far. */
  readonly loading?: (objects: number) => void
  readonly log: Logger
  /** Stops the shard. */
  readonly signal: AbortSignal
}

/** A shard with its authentication and the URLs of its views. */
export interface Embedded extends Shard {
  readonly authentication: Authentication
  readonly viewUrls: ViewUrls
  readonly viewed: ViewedResources
  /** What all logical clusters have stored: a live value. */
  readonly stored: Readonly<Amounts>
  /** Absent with a single shard. */
  readonly otherShards?: OtherShards
}

/** Opens the logical clusters of a store, with kcp's controllers, admission and RBAC. */
export async function openEmbedded(options: EmbeddedOptions): Promise<Embedded> {
  const { store, rootCA, log, signal, eventTtl } = options
  const { addresses, sharding } = options.sharding
  const tenancy = await fill(options, options.sharding)
  const kcp = kcpOf(options, tenancy)
  const authentication = authenticationOf(options, tenancy.workspaceTypes, kcp.otherTokens)
  const tokens = tokenParts({
    issuer: tokenIssuer(options.authentication.serviceAccounts),
    tokens: informers => authentication(informers).tokens,
    rootCA,
  })
  const { authorization = authorizationParts() } = options
  const viewed = new ViewedResources()
  const shard = await openShard({
    ...kcp,
    viewed,
    store,
    log,
    signal,
    ...(eventTtl !== undefined && { eventTtl }),
    externalUrl: addresses.externalURL,
    webhookAddresses: addressesOf('--webhook-allow', options.webhookAllow),
    ...(options.loading && { loading: options.loading }),
    authorizer: authorization.authorizer,
    subresources: tokens.subresources,
    reviews: (authorizer, informers) => ({
      ...authorization.reviews(authorizer),
      ...tokens.reviews(authorizer, informers),
    }),
    controllers: host => [...kcp.controllers(host), ...tokens.controllers(host)],
    admission: host => [...kcp.admission(host), authorization.admission(host.backend.authorizer)],
  })
  const viewUrls = shardViewUrls(shard.informers, tenancy.shards, { ...addresses, isShared: store.isShared })
  const more = { stored: kcp.stored(shard), ...(sharding && { otherShards: kcp.otherShards(shard) }) }
  return { ...shard, ...more, viewed, viewUrls, authentication: authentication(shard.informers) }
}

function kcpOf(
  { rootCA, outbound, quota, disk, sharding: prepared }: EmbeddedOptions,
  tenancy: TenancyResources,
): ReturnType<typeof kcpParts> {
  const { addresses, sharding, cacheServer } = prepared
  return kcpParts({
    tenancy,
    shard: addresses,
    rootCA,
    ...(sharding && { sharding }),
    ...(cacheServer && { cacheServer }),
    ...(outbound && { mountRefusal: outbound.refusalOf }),
    ...(quota && { quota }),
    ...(disk && { disk }),
  })
}

const addressesOf = (flag: string, allow: readonly string[] = []): AddressPolicy =>
  createAddressPolicy({ allow, flags: { command: 'oriel start', allow: flag } })

/** Authentication in these logical clusters. Created once, because it caches tokens. */
function authenticationOf(
  { authentication, issuerAllow, log }: EmbeddedOptions,
  workspaceTypes: ResourceRef,
  otherTokens: ReturnType<typeof kcpParts>['otherTokens'],
): (informers: Informers) => Authentication {
  let made: Authentication | undefined
  return informers => {
    made ??= authentication.with(
      serviceAccountTokens({
        ...authentication.serviceAccounts,
        informers,
        elsewhere: otherTokens({ informers }),
      }),
      workspaceTokens({
        configurationsOf: workspaceIssuers(informers, workspaceTypes),
        compiler: tokenExpressions,
        forbidden: [authentication.serviceAccounts.issuer],
        addresses: addressesOf('--issuer-allow', issuerAllow),
        log,
      }),
    )
    return made
  }
}

interface ShardObject extends KubeObject {
  readonly spec?: Partial<Omit<ShardAddresses, 'name'>>
}

/**
 * The view URLs of all shards, this shard first: each shard serves the views of its own logical clusters. Servers that share a
 * store publish the URLs that the last one of them stored, so that all publish the same.
 */
function shardViewUrls(
  informers: Informers,
  shards: ResourceRef,
  given: ShardAddresses & { readonly isShared: boolean },
): ViewUrls {
  const informer = informers.for(shards)
  const own = (): ShardAddresses => {
    const stored = given.isShared ? (informer.get('root', '', given.name)?.object as ShardObject) : undefined
    return { ...given, ...stored?.spec }
  }
  return {
    get own() {
      return own().baseURL
    },
    current() {
      const others = informer.list('root').flatMap(({ key, object }) => {
        const { virtualWorkspaceURL, baseURL } = (object as ShardObject).spec ?? {}
        return key.name === given.name ? [] : (virtualWorkspaceURL ?? baseURL ?? [])
      })
      return [own().virtualWorkspaceURL, ...others]
    },
    isSelected(selector) {
      const labels = informer.get('root', '', given.name)?.meta.labels ?? {}
      return matchesLabels(parseLabelSelector(selector), labels)
    },
    onChange: handler => informer.onEvent(handler),
  }
}
