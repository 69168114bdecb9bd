import assert from 'node:assert/strict'
import { Command } from 'commander'
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

const namesIn = (text: string): readonly string[] => text.trim().split(/\s+/)

describe("the commands that take kcp's command lines", () => {
  it('front-proxy has all flags of kcp-front-proxy', () => {
    const { options } = addFrontProxyFlags(new Command())
    const known = new Set(options.map(({ long }) => long))
    assert.deepEqual(
      namesIn(ofFrontProxy).filter(name => !known.has(`--${name}`)),
      [],
    )
  })

  const commands = { start: addStartFlags, frontProxy: addFrontProxyFlags, views: addVirtualWorkspacesFlags }
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
