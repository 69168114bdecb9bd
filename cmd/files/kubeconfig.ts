export interface KubeconfigOptions {
  /** `https://host:port` */
  readonly server: string
  /** The certificate authority of the serving certificate, PEM. */
  readonly ca: string
  readonly kcpAdminToken: string
  readonly shardAdminToken: string
}

/** The administrators' kubeconfig as YAML (kcp `pkg/server/options/authentication.go`, AdminAuthentication). */
export function adminKubeconfig({ server, ca, kcpAdminToken, shardAdminToken }: KubeconfigOptions): string {
  const authority = Buffer.from(ca).toString('base64')
  const cluster = (name: string, url: string): string =>
    `- name: ${name}\n  cluster:\n    server: ${url}\n    certificate-authority-data: ${authority}\n`
  const context = (name: string, cluster: string, user: string): string =>
    `- name: ${name}\n  context:\n    cluster: ${cluster}\n    user: ${user}\n`
  const user = (name: string, token: string): string => `- name: ${name}\n  user:\n    token: ${token}\n`
  return [
    'apiVersion: v1\nkind: Config\ncurrent-context: root\npreferences: {}\n',
    'clusters:\n',
    cluster('base', server),
    cluster('root', `${server}/clusters/root`),
    cluster('system:admin', `${server}/clusters/system:admin`),
    'contexts:\n',
    context('root', 'root', 'kcp-admin'),
    context('base', 'base', 'kcp-admin'),
    context('system:admin', 'system:admin', 'shard-admin'),
    context('shard-base', 'base', 'shard-admin'),
    'users:\n',
    user('kcp-admin', kcpAdminToken),
    user('shard-admin', shardAdminToken),
  ].join('')
}
