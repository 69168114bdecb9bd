import { setMaxListeners } from 'node:events'
import { retry } from '../framework/async/backoff.ts'
import { createAddressPolicy } from '../framework/net/addresspolicy.ts'
import { mutatingAgain, type RegistryPlugin } from './admission/chain.ts'
import { signerAdmission } from './admission/kubernetes/certificates.ts'
import { namespaceLifecycle, namespacesIn } from './admission/kubernetes/namespace-lifecycle.ts'
import { resourceQuotaAdmission } from './admission/kubernetes/resourcequota.ts'
import { tenantPolicies } from './admission/policies/index.ts'
import { policyClusters } from './admission/policies/source.ts'
import { tenantWebhooks } from './admission/webhooks/index.ts'
import type { Computed } from './apis/resources.ts'
import { type BoundSets, boundSetsOf } from './bindings/boundsets.ts'
import { clusterContent } from './bindings/content.ts'
import { openWatchCache } from './cache/watchcache.ts'
import { type ClientOptions, type ControllerClient, createClient } from './controllers/client.ts'
import type { Controller } from './controllers/controller.ts'
import type { EmbeddedShard, ShardHost, ShardOptions } from './controllers/host.ts'
import { kubernetesControllers } from './controllers/kubernetes/kubernetes.ts'
import { runAsLeader } from './controllers/leaderelection.ts'
import { ControllerTerm } from './controllers/term.ts'
import { cacheInformers } from './informers.ts'
import type { Store } from './store/store.ts'
import { cacheOfRef, wireBackend } from './wiring.ts'

export type { EmbeddedShard as Shard, ShardHost, ShardOptions } from './controllers/host.ts'

/**
 * Opens the logical clusters of a store: loads all objects into memory and serves them. Controllers start with
 * `run`.
 */
export async function openShard(options: ShardOptions): Promise<EmbeddedShard> {
  const { log, store } = options
  const closing = new AbortController()
  const signal = AbortSignal.any([options.signal, closing.signal])
  // Every controller and every request of the server to itself listens.
  setMaxListeners(0, signal)
  const cache = await openWatchCache(store, { ...cacheOptions(options), log, signal })
  const informers = cacheInformers(cacheOfRef(cache))
  const bound = boundSetsOf(informers)
  const authorizer = options.authorizer(informers, bound)
  const plugins: RegistryPlugin[] = [namespaceLifecycle(namespacesIn(cache))]
  const computed: Record<string, Computed> = {}
  const parts = { cache, informers, authorizer, plugins, computed }
  const { backend, shared, resourcesOf, isBound, refusalOfWrites } = wireBackend(options, parts)
  const client = createClient({ backend, signal, log })
  const content = clusterContent(store, cache, refusalOfWrites)
  const host: ShardHost = { backend, cache, shared, client, content, informers, log, isBound }
  Object.assign(computed, options.computed?.(host))
  plugins.push(...pluginsOf(options, host, bound))
  const term = new ControllerTerm()
  const clientOver = clientsOf({ store, signal, log, term })
  const within = term.content(clusterContent(store, cache, refusalOfWrites, term.permission))
  const working = store.isShared ? { ...host, client: clientOver(backend), content: within } : host
  const controllers = [
    ...kubernetesControllers(working, { ...eventOptions(options), resourcesOf, clientOver, signal }),
    ...(options.controllers?.(working) ?? []),
  ]
  return {
    ...host,
    controllers,
    run: (until = signal) => runControllers({ store, host, controllers, term }, until),
    close() {
      closing.abort()
      cache.close()
    },
  }
}

interface Clients extends Pick<ClientOptions, 'signal' | 'log'> {
  readonly store: Store
  readonly term: ControllerTerm
}

/** Makes clients of controllers, which another server may run after the term. */
const clientsOf =
  ({ store, term, ...options }: Clients) =>
  (backend: ClientOptions['backend']): ControllerClient =>
    store.isShared
      ? term.client(createClient({ ...options, backend, permission: term.permission }))
      : createClient({ ...options, backend })

interface Running {
  readonly store: Store
  readonly host: ShardHost
  readonly controllers: readonly Controller[]
  readonly term: ControllerTerm
}

async function runControllers(
  { store, host, controllers, term }: Running,
  signal: AbortSignal,
): Promise<void> {
  const { client, log } = host
  const run = (some: readonly Controller[], until: AbortSignal): Promise<unknown> => {
    setMaxListeners(0, until)
    return Promise.all(some.map(controller => controller.run(until)))
  }
  if (!store.isShared) return void (await run(controllers, signal))
  const elected = controllers.filter(({ everywhere }) => everywhere !== true)
  await Promise.all([
    run(
      controllers.filter(({ everywhere }) => everywhere),
      signal,
    ),
    runAsLeader({ client, log, term }, signal, async until => {
      await endAdmission(host, until).catch(() => undefined)
      await run(elected, until)
    }),
  ])
}

/** Milliseconds. */
const pauses = { first: 100, longest: 1_000 }

/** What the leader before has not stored yet is admitted again. */
const endAdmission = ({ content, log }: ShardHost, signal: AbortSignal): Promise<unknown> =>
  retry(() => content.commit(content.admissionEnd()), {
    ...pauses,
    signal,
    failed: error => log.warn({ error: String(error) }, 'the controllers do not begin yet, retrying'),
  })

function pluginsOf(options: ShardOptions, host: ShardHost, bound: BoundSets): readonly RegistryPlugin[] {
  const tenancy = {
    ...host,
    namespaceOf: namespacesIn(host.cache),
    policyClusterOf: policyClusters(bound),
  }
  const addresses = options.webhookAddresses ?? createAddressPolicy({ allow: [] })
  const webhooks = tenantWebhooks({ ...tenancy, addresses })
  const own = [...(options.admission?.(host) ?? []), signerAdmission(host.backend.authorizer)]
  const tenants = [webhooks.mutating, ...tenantPolicies(tenancy)]
  return [
    ...own,
    ...tenants,
    ...mutatingAgain(own, tenants),
    ...webhooks.validating,
    // The quota is last: it counts only what all other plugins admit.
    resourceQuotaAdmission(host),
  ]
}

const eventOptions = ({ eventTtl }: ShardOptions) => (eventTtl === undefined ? {} : { eventTtl })

const cacheOptions = ({ decorate, loading, ring }: ShardOptions) => ({
  ...(decorate === undefined ? {} : { decorate }),
  ...(loading === undefined ? {} : { loading }),
  ...(ring === undefined ? {} : { ring }),
})
