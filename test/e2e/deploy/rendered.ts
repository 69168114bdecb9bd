import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { parseAllDocuments } from 'yaml'
import { run } from '../../support/oriel.ts'
import { root } from '../../support/source.ts'

export const hasHelm = (process.env.PATH ?? '').split(delimiter).some(each => existsSync(join(each, 'helm')))

export const noHelm =
  'there is no helm; with Go: GOBIN="$PWD/.tools" go install helm.sh/helm/v3/cmd/helm@v3.19.0'

export interface Container {
  readonly args: readonly string[]
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[]
}

/** An object of the chart. */
export interface Rendered {
  readonly kind: string
  readonly spec: {
    readonly template: {
      readonly spec: {
        readonly containers: readonly Container[]
        readonly volumes?: readonly { readonly name: string }[]
      }
    }
    readonly [field: string]: unknown
  }
}

export const chart = join(root, 'deploy/chart')
export const version = ['--kube-version', '1.34.0']

/** `a.b=c` as arguments of helm. */
export const sets = (...values: readonly string[]): readonly string[] =>
  values.flatMap(each => ['--set', each])

/** `helm template`; values are arguments. */
export const template = (...args: readonly string[]) =>
  run('helm', ['template', 'demo', chart, '--namespace', 'oriel', ...version, ...args])

/** The objects with these values: `a.b=c`. */
export async function render(...values: readonly string[]): Promise<readonly Rendered[]> {
  const { code, stdout, stderr } = await template(...sets(...values))
  assert.equal(code, 0, stderr)
  return parseAllDocuments(stdout).flatMap(document => (document.toJS() as Rendered | null) ?? [])
}

const common = [
  'serviceMonitor.enabled=true',
  'prometheusRule.enabled=true',
  'dashboard.enabled=true',
  'serviceMonitor.tokenSecret.name=prometheus',
  'authentication.clientCASecret=client-ca',
  'authentication.requestHeaderCASecret=proxy-ca',
  'authentication.requestHeaderAllowedNames={kcp-front-proxy,other}',
  'networkPolicy.from[0].namespaceSelector.matchLabels.team=a',
  'image.pullSecrets[0].name=registry',
  'podAnnotations.a=b',
  'service.annotations.a=b',
]
const certManager = [
  'certificate.certManager.enabled=true',
  'certificate.certManager.issuerRef.name=ca',
  'certificate.certManager.dnsNames={oriel.example.com}',
]
/** Values of each role with everything switched on, and of a server with nothing. */
export const roles: Readonly<Record<string, readonly string[]>> = {
  'server with generated files': [],
  server: [
    ...common,
    ...certManager,
    'authentication.tokenSecret=tokens',
    'persistence.storageClassName=fast',
  ],
  replicas: [
    ...common,
    'role=replicas',
    'etcd.endpoints={etcd-0:2379,etcd-1:2379}',
    'etcd.tlsSecret=etcd',
    'serviceAccountKeySecret=sa',
    'certificate.secretName=serving',
  ],
  views: [...common, ...certManager, 'role=views', 'shard.kubeconfigSecret=shard', 'shard.context=base'],
}

/** Values that the schema refuses, what helm says, and where the schema has the problem. */
export const refusedValues = [
  ['an unknown value', ['colour=red'], /additional properties 'colour' not allowed/, / colour$/],
  [
    'an unknown role',
    ['role=shard'],
    /\/role': value must be one of 'server', 'replicas', 'views'/,
    /^\/role enum/,
  ],
  ['views without a shard', ['role=views'], /\/shard\/kubeconfigSecret'/, /^\/shard\/kubeconfigSecret /],
  [
    'replicas without etcd and keys',
    ['role=replicas'],
    /(?=[\s\S]*\/serviceAccountKeySecret')(?=[\s\S]*\/etcd\/endpoints')/,
    /(?=[\s\S]*\/serviceAccountKeySecret )(?=[\s\S]*\/etcd\/endpoints )/,
  ],
  [
    'a Certificate without an issuer',
    ['certificate.certManager.enabled=true'],
    /\/issuerRef\/name'/,
    /\/issuerRef\/name /,
  ],
  [
    'a ServiceMonitor without a token',
    ['serviceMonitor.enabled=true'],
    /\/tokenSecret\/name'/,
    /\/tokenSecret\/name /,
  ],
] as const
