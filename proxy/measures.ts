import type { Metrics } from '../framework/metrics/metrics.ts'
import type { ForwardObserver } from '../framework/net/forward.ts'

/** Metrics of a front proxy, with kcp's names (kcp `pkg/proxy/metrics`). */
export interface ProxyMeasures {
  /** Metrics of incoming requests. */
  readonly metrics: Metrics
  /** Observes requests to a shard. */
  observerOf(shard: string): ForwardObserver
  /** Counts a request for a mounted workspace. */
  mounted(type: 'URL' | 'Redirect' | 'unavailable' | 'loop'): void
}

const buckets = [0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.5, 2, 3, 5, 8, 15, 30, 60]

/** `sizes`: logical clusters by shard. */
export function proxyMeasures(
  metrics: Metrics,
  sizes: () => Iterable<readonly [string, number]>,
): ProxyMeasures {
  metrics.meter({
    kind: 'gauge',
    name: 'kcp_indexed_logicalclusters',
    help: 'Number of indexed logical clusters by shard.',
    labels: ['shard'],
    collect: set => {
      for (const [shard, size] of sizes()) set({ shard }, size)
    },
  })
  const mounts = metrics.meter({
    kind: 'counter',
    name: 'mount_proxy_requests_total',
    help: 'Number of requests for mounted workspaces by type.',
    labels: ['type'],
  })
  return {
    metrics: withDurations(metrics),
    observerOf: shardMeters(metrics),
    mounted: type => mounts({ type }, 1),
  }
}

function withDurations(metrics: Metrics): Metrics {
  const seconds = metrics.meter({
    kind: 'histogram',
    name: 'proxy_request_duration_seconds',
    help: 'Duration of requests in seconds.',
    labels: ['method', 'code'],
    buckets,
  })
  return {
    ...metrics,
    begin(method) {
      const measured = metrics.begin(method)
      return {
        since: measured.since,
        serves: resource => measured.serves(resource),
        works: () => measured.works(),
        through: view => measured.through(view),
        sent: chunk => measured.sent(chunk),
        sentWhole: bytes => measured.sentWhole(bytes),
        end(code) {
          measured.end(code)
          const labels = { method: methods.has(method) ? method : 'OTHER', code: String(code) }
          seconds(labels, (performance.now() - measured.since) / 1000)
        },
      }
    },
  }
}

const methods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

function shardMeters({ meter }: Metrics): ProxyMeasures['observerOf'] {
  const counter = (name: string, help: string, ...labels: readonly string[]) =>
    meter({ kind: 'counter', name, help, labels: ['shard', ...labels] })
  const sent = counter('kcp_backend_rq_body_bytes', 'Bytes of request bodies sent to a shard.')
  const received = counter('kcp_backend_rs_body_bytes', 'Bytes of response bodies received from a shard.')
  const errors = counter(
    'kcp_listener_tls_connection_error',
    'Number of connections to a shard that failed in TLS.',
    'error_type',
  )
  return shard => ({
    ended(requestBytes, answerBytes) {
      sent({ shard }, requestBytes)
      received({ shard }, answerBytes)
    },
    failed(error) {
      const type = tlsProblems[(error as { readonly code?: string }).code ?? '']
      if (type !== undefined) errors({ shard, error_type: type }, 1)
    },
  })
}

const tlsProblems: Readonly<Record<string, string>> = {
  SELF_SIGNED_CERT_IN_CHAIN: 'unknown_ca',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'unknown_ca',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'unknown_ca',
  UNABLE_TO_GET_ISSUER_CERT: 'unknown_ca',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'unknown_ca',
  CERT_HAS_EXPIRED: 'expired_cert',
  ERR_TLS_CERT_ALTNAME_INVALID: 'hostname_mismatch',
  ERR_SSL_NO_SHARED_CIPHER: 'cipher_mismatch',
  ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE: 'cipher_mismatch',
  EPROTO: 'other',
}
