import { resolve } from 'node:path'

export interface KubeconfigOptions {
  /** `https://host:port` */
  readonly server: string
  /** The certificate authority of the serving certificate, PEM. */
  readonly ca: string
  readonly kcpAdminToken: string
  readonly shardAdminToken: string
  /** The root shard, where `server` is a front proxy; default: `server`. */
  readonly rootShard?: string
}

/** The path of the administrators' kubeconfig: relative ones are in the data directory. */
export const kubeconfigPlace = (
  { kubeconfigPath = 'admin.kubeconfig' }: { readonly kubeconfigPath?: string },
  dataDirectory: string,
): string => resolve(dataDirectory, kubeconfigPath)

/** The administrators' kubeconfig as YAML (kcp `pkg/server/options/authentication.go`, AdminAuthentication). */
export function adminKubeconfig(options: KubeconfigOptions): string {
  const { server, ca, kcpAdminToken, shardAdminToken, rootShard } = options
  return [
    head,
    'clusters:\n',
    cluster('base', server, ca),
    cluster('root', `${server}/clusters/root`, ca),
    cluster('system:admin', `${rootShard ?? server}/clusters/system:admin`, ca),
    ...(rootShard === undefined ? [] : [cluster('shard-base', rootShard, ca)]),
    'contexts:\n',
    context('root', 'root', 'kcp-admin'),
    context('base', 'base', 'kcp-admin'),
    context('system:admin', 'system:admin', 'shard-admin'),
    context('shard-base', rootShard === undefined ? 'base' : 'shard-base', 'shard-admin'),
    'users:\n',
    user('kcp-admin', kcpAdminToken),
    user('shard-admin', shardAdminToken),
  ].join('')
}

const head = 'apiVersion: v1\nkind: Config\ncurrent-context: root\npreferences: {}\n'

const cluster = (name: string, url: string, ca: string): string =>
  `- name: ${name}\n  cluster:\n    server: ${url}\n    certificate-authority-data: ${Buffer.from(ca).toString('base64')}\n`

const context = (name: string, cluster: string, user: string): string =>
  `- name: ${name}\n  context:\n    cluster: ${cluster}\n    user: ${user}\n`

const user = (name: string, token: string): string => `- name: ${name}\n  user:\n    token: ${token}\n`

/** A user, its token, and the URL of the workspace that its kubeconfig selects. */
export interface UserKubeconfig extends Pick<KubeconfigOptions, 'server' | 'ca'> {
  readonly name: string
  readonly token: string
}

/** The kubeconfig of one user as YAML. */
export const userKubeconfig = ({ server, ca, name, token }: UserKubeconfig): string =>
  [
    head,
    'clusters:\n',
    cluster('root', server, ca),
    'contexts:\n',
    context('root', 'root', JSON.stringify(name)),
    'users:\n',
    user(JSON.stringify(name), token),
  ].join('')
