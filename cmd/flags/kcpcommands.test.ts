import assert from 'node:assert/strict'
import { Command } from 'commander'
import { addCacheServerFlags } from './cacheserver.ts'
import { addFrontProxyFlags } from './frontproxy.ts'
import { addStartFlags } from './start.ts'
import { addVirtualWorkspacesFlags } from './virtualworkspaces.ts'

/** The flags that `kcp-front-proxy --help` of kcp dac74f5955 prints. */
const ofFrontProxy = `
  api-audiences authentication-config authentication-drop-groups authentication-pass-on-groups authentication-token-webhook-cache-ttl
  authentication-token-webhook-config-file authentication-token-webhook-version bind-address cert-dir client-ca-file cors-allowed-origins
  disable-http2-serving feature-gates http2-max-streams-per-connection log-flush-frequency log-json-info-buffer-size log-json-split-stream
  log-text-info-buffer-size log-text-split-stream logging-format mapping-file oidc-ca-file oidc-client-id oidc-groups-claim
  oidc-groups-prefix oidc-issuer-url oidc-required-claim oidc-signing-algs oidc-username-claim oidc-username-prefix
  permit-address-sharing permit-port-sharing profiler-address requestheader-allowed-names requestheader-client-ca-file
  requestheader-extra-headers-prefix requestheader-group-headers requestheader-uid-headers requestheader-username-headers root-directory
  root-kubeconfig secure-port service-account-extend-token-expiration service-account-issuer service-account-jwks-uri
  service-account-key-file service-account-lookup service-account-max-token-expiration shards-kubeconfig tls-cert-file tls-cipher-suites
  tls-curve-preferences tls-min-version tls-private-key-file tls-sni-cert-key token-auth-file v vmodule`

/** The flags that `cache-server --help` of kcp dac74f5955 prints, and those that its main function reads itself. */
const ofCacheServer = `
  authorization-always-allow-paths bind-address cert-dir client-ca-file delete-collection-workers disable-http2-serving
  embedded-etcd-client-port embedded-etcd-directory embedded-etcd-force-new-cluster embedded-etcd-listen-metrics-urls
  embedded-etcd-peer-port embedded-etcd-quota-backend-bytes embedded-etcd-wal-size-bytes enable-garbage-collector
  encryption-provider-config encryption-provider-config-automatic-reload etcd-cafile etcd-certfile etcd-compaction-interval
  etcd-count-metric-poll-period etcd-db-metric-poll-interval etcd-healthcheck-timeout etcd-keyfile etcd-prefix
  etcd-readycheck-timeout etcd-servers etcd-servers-overrides http2-max-streams-per-connection lease-reuse-duration-seconds
  log-flush-frequency log-json-info-buffer-size log-json-split-stream log-text-info-buffer-size log-text-split-stream logging-format
  permit-address-sharing permit-port-sharing root-directory secure-port storage-backend storage-media-type synthetic-delay
  tls-cert-file tls-cipher-suites tls-curve-preferences tls-min-version tls-private-key-file tls-sni-cert-key v vmodule watch-cache
  watch-cache-sizes`

const namesIn = (text: string): readonly string[] => text.trim().split(/\s+/)

describe("the commands that take kcp's command lines", () => {
  for (const [name, add, flags] of [
    ['front-proxy', addFrontProxyFlags, ofFrontProxy],
    ['cache-server', addCacheServerFlags, ofCacheServer],
  ] as const)
    it(`${name} has all flags of kcp`, () => {
      const { options } = add(new Command())
      const known = new Set(options.map(({ long }) => long))
      assert.deepEqual(
        namesIn(flags).filter(flag => !known.has(`--${flag}`)),
        [],
      )
    })

  const commands = {
    start: addStartFlags,
    'front-proxy': addFrontProxyFlags,
    'cache-server': addCacheServerFlags,
    'virtual-workspaces': addVirtualWorkspacesFlags,
  }
  for (const [name, add] of Object.entries(commands))
    it(`${name} accepts feature gates of kcp and Kubernetes, and no others`, () => {
      const gates = add(new Command()).options.find(({ long }) => long === '--feature-gates')
      assert.ok(gates?.parseArg)
      const read = (text: string) => gates.parseArg?.(text, undefined)
      read('WorkspaceMounts=true,WatchList=false,AllAlpha=true')
      assert.throws(() => read('WorkspaceMount=true'), {
        message: 'Neither kcp nor Kubernetes has a feature gate "WorkspaceMount".',
      })
      assert.throws(() => read('WorkspaceMounts=yes'), {
        message: 'Give feature gates such as WorkspaceMounts=true, comma-separated.',
      })
    })
})
