import { type Command, Option } from 'commander'

type Reasons = Readonly<Record<string, string>>

const ignoredEverywhere: Reasons = {
  'audit-log-batch-buffer-size': 'audit events are written as soon as the disk takes them',
  'audit-log-batch-max-size': 'audit events are written as soon as the disk takes them',
  'audit-log-batch-max-wait': 'audit events are written as soon as the disk takes them',
  'audit-log-batch-throttle-burst': 'audit events are written as soon as the disk takes them',
  'audit-log-batch-throttle-enable': 'audit events are written as soon as the disk takes them',
  'audit-log-batch-throttle-qps': 'audit events are written as soon as the disk takes them',
  'audit-log-compress': 'audit logs are not compressed',
  'audit-log-format': 'audit events are JSON',
  'audit-log-mode': 'audit events are written as soon as the disk takes them',
  'audit-log-truncate-max-batch-size': 'the size of batches is fixed',
  'audit-log-version': 'audit events are audit.k8s.io/v1',
  'audit-webhook-batch-buffer-size': 'the size of batches is fixed',
  'audit-webhook-batch-max-size': 'the size of batches is fixed',
  'audit-webhook-batch-max-wait': 'the delay of batches is fixed',
  'audit-webhook-batch-throttle-burst': 'batches are not throttled',
  'audit-webhook-batch-throttle-enable': 'batches are not throttled',
  'audit-webhook-batch-throttle-qps': 'batches are not throttled',
  'audit-webhook-initial-backoff': 'the retry interval is fixed',
  'audit-webhook-mode': 'audit events are sent in batches',
  'audit-webhook-version': 'audit events are audit.k8s.io/v1',
  'disable-http2-serving': 'HTTP/2 is always served',
  'feature-gates': 'all features are enabled',
  'http2-max-streams-per-connection': 'the number of streams of a connection is fixed',
  'log-flush-frequency': 'log lines are written unbuffered',
  'logging-format': 'log lines are JSON',
  'permit-address-sharing': 'the address is not shared',
  'permit-port-sharing': 'the port is not shared',
  'profiler-address': 'profiles are served at /debug/pprof',
  'tls-cipher-suites': 'the cipher suites of Node.js are used',
  'tls-min-version': 'the minimum version is TLS 1.2',
  'tls-sni-cert-key': 'SNI certificates are not supported',
  vmodule: 'log levels per module are not supported',
}

const ignoredLogging: Reasons = {
  'log-json-info-buffer-size': 'log lines are written unbuffered',
  'log-json-split-stream': 'log lines go to standard error',
  'log-text-info-buffer-size': 'log lines are written unbuffered',
  'log-text-split-stream': 'log lines go to standard error',
}

/** Flags of kcp's `virtual-workspaces` without effect, and the reason that is logged. */
export const ignoredByViews: Reasons = {
  ...ignoredEverywhere,
  ...ignoredLogging,
  'authentication-skip-lookup': 'authentication is never configured from a surrounding cluster',
  'authentication-token-webhook-cache-ttl': 'token reviews are cached for 10s',
  'authentication-tolerate-lookup-failure': 'authentication is never configured from a surrounding cluster',
  'shard-external-url': 'it is deprecated in kcp and has no effect',
}

const certificates = 'the certificates are in the data directory'
const curves = 'the curves of Node.js are used'
const noCors = 'requests of web pages of other origins are not supported'
const reviewed = 'the shard of a service account reviews its tokens'

/** Flags of `kcp-front-proxy` without effect, and the reason that is logged. */
export const ignoredByFrontProxy: Reasons = {
  ...ignoredEverywhere,
  ...ignoredLogging,
  'cert-dir': certificates,
  'cors-allowed-origins': noCors,
  'service-account-extend-token-expiration': reviewed,
  'service-account-issuer': reviewed,
  'service-account-jwks-uri': reviewed,
  'service-account-key-file': reviewed,
  'service-account-lookup': reviewed,
  'service-account-max-token-expiration': reviewed,
  'tls-curve-preferences': curves,
}

const noEmbeddedEtcd = 'objects are stored in --store, without etcd'

/** Flags of the store and of the watch cache that all servers of kcp with objects have. */
const ignoredStore: Reasons = {
  'embedded-etcd-client-port': noEmbeddedEtcd,
  'embedded-etcd-directory': noEmbeddedEtcd,
  'embedded-etcd-force-new-cluster': noEmbeddedEtcd,
  'embedded-etcd-listen-metrics-urls': noEmbeddedEtcd,
  'embedded-etcd-peer-port': noEmbeddedEtcd,
  'embedded-etcd-wal-size-bytes': noEmbeddedEtcd,
  'lease-reuse-duration-seconds': 'there are no leases of etcd',
  'storage-media-type': 'objects are stored as JSON',
  'tls-curve-preferences': curves,
  'watch-cache': 'reads and watches always use the watch cache',
  'watch-cache-sizes': 'the size of the watch cache is fixed',
}

const polls = 'etcd is watched, not polled'
const answers = 'a request waits for etcd until its deadline'

/** Flags of `cache-server` without effect, and the reason that is logged. */
export const ignoredByCacheServer: Reasons = {
  ...ignoredEverywhere,
  ...ignoredLogging,
  ...ignoredStore,
  'authorization-always-allow-paths': '/healthz, /livez and /readyz are always allowed',
  'cert-dir': certificates,
  'delete-collection-workers': 'the number of objects that are deleted at a time is fixed',
  'embedded-etcd-quota-backend-bytes': noEmbeddedEtcd,
  'enable-garbage-collector': 'the shards remove copies',
  'encryption-provider-config-automatic-reload': 'objects are stored without encryption',
  'etcd-count-metric-poll-period': polls,
  'etcd-db-metric-poll-interval': polls,
  'etcd-healthcheck-timeout': answers,
  'etcd-readycheck-timeout': answers,
  'storage-backend': 'the store is that of --store',
  'synthetic-delay': 'requests are not delayed',
}

/** Flags of kcp's `start` without effect, and the reason that is logged. */
export const ignoredByStart: Reasons = {
  ...ignoredEverywhere,
  ...ignoredStore,
  'allow-metric-labels': 'the labels of metrics are fixed',
  'allow-metric-labels-manifest': 'the labels of metrics are fixed',
  'authentication-admin-token-path': 'the digest of the token is .admin-token-store in the data directory',
  'batteries-included': 'the workspace types of root always exist, and oriel user add creates users',
  'cert-dir': certificates,
  'concurrent-serviceaccount-token-syncs':
    'the number of objects that a controller processes at a time is fixed',
  'contention-profiling': 'Node.js has no contention profiles',
  'conversion-cel-transformation-timeout': 'conversions have the cost limits of CEL',
  'coordinated-leadership-lease-duration': 'there is no coordinated leader election',
  'coordinated-leadership-renew-deadline': 'there is no coordinated leader election',
  'coordinated-leadership-retry-period': 'there is no coordinated leader election',
  'cors-allowed-origins': noCors,
  'debug-socket-path': 'profiles are served at /debug/pprof',
  'disabled-metrics': 'all metrics are enabled',
  'embedded-etcd-quota-backend-bytes': '--total-bytes-limit and --store-min-free limit the store',
  'emulated-version': 'the version of the API is fixed',
  'enable-bootstrap-token-auth': 'bootstrap tokens are not supported',
  'enable-leader-election': 'the servers of one etcd always elect the one that runs controllers',
  'enable-logs-handler': 'there is no /logs',
  'goaway-chance': 'connections are not closed at random',
  'leader-election-name': 'the servers of one etcd always elect the one that runs controllers',
  'leader-election-namespace': 'the servers of one etcd always elect the one that runs controllers',
  'livez-grace-period': 'the server is live when it listens',
  'logical-cluster-object-count-scan-interval': 'objects are counted when they change',
  'max-connection-bytes-per-sec': 'connections are not throttled by bytes',
  'miniproxy-mapping-file': 'use oriel front-proxy',
  'mount-proxy-client-cert-file': 'mounts are served by this process',
  'mount-proxy-client-key-file': 'mounts are served by this process',
  profiling: 'profiles are always served at /debug/pprof',
  'proxy-client-cert-file': 'requests for tenants have no credentials',
  'proxy-client-key-file': 'requests for tenants have no credentials',
  'root-identities-file': 'the identities of the exports of root are generated at the first start',
  'run-controllers': 'the controllers always run',
  'run-virtual-workspaces': 'the views are always served',
  'service-account-extend-token-expiration': 'tokens expire at the requested time',
  'service-account-lookup': 'service accounts are always looked up',
  'shard-kubeconfig-file': 'requests to other shards use --logical-cluster-admin-kubeconfig',
  'shard-virtual-workspace-ca-file': 'the views are served with the certificate of this server',
  'show-hidden-metrics-for-version': 'there are no hidden metrics',
  'shutdown-delay-duration': 'the server stops at once, and requests in progress have 10s to end',
  'shutdown-send-retry-after': 'the server stops at once, and requests in progress have 10s to end',
  'shutdown-watch-termination-grace-period': 'watches end when the server stops',
  'storage-initialization-timeout': 'the server is ready when all objects are loaded',
  'strict-transport-security-directives': 'responses have no Strict-Transport-Security header',
}

/** Adds the flags that a command does not have, hidden from `--help`, with an optional value. */
export function addIgnoredFlags(ignored: Reasons, command: Command): Command {
  for (const name of Object.keys(ignored))
    if (!command.options.some(({ long }) => long === `--${name}`))
      command.addOption(new Option(`--${name} [value]`, 'ignored').hideHelp())
  return command
}

const camelCase = (name: string): string =>
  name.replace(/-([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())

/** A log message for each ignored flag that was given. */
export const warningsAbout = (ignored: Reasons, flags: object): readonly string[] =>
  Object.entries(ignored)
    .filter(([name]) => camelCase(name) in flags)
    .map(([name, why]) => `--${name} is ignored: ${why}`)
