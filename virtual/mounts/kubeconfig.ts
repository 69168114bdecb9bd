import { parseYaml, type UpstreamEndpoint } from '../../framework/index.ts'

/** What a kubeconfig says about one server, or what keeps it from being used, in one sentence. */
export type ReadKubeconfig = { readonly endpoint: UpstreamEndpoint } | { readonly problem: string }

type Fields = Readonly<Record<string, unknown>>

class Unusable extends Error {}

/**
 * Reads the current context of a kubeconfig. Only what is in it counts: files, programs and proxies would be this server's,
 * not its author's.
 */
export function readKubeconfig(text: string): ReadKubeconfig {
  try {
    return { endpoint: endpointOf(record(parsed(text), 'the kubeconfig')) }
  } catch (error) {
    if (error instanceof Unusable) return { problem: error.message }
    throw error
  }
}

function parsed(text: string): unknown {
  try {
    return parseYaml(text).value
  } catch {
    throw new Unusable('the kubeconfig is not YAML')
  }
}

function endpointOf(config: Fields): UpstreamEndpoint {
  const current = textOf(config['current-context'], 'current-context')
  const context = named(config.contexts, current, 'context')
  const cluster = named(config.clusters, textOf(context.cluster, 'context.cluster'), 'cluster')
  const user =
    context.user === undefined ? {} : named(config.users, textOf(context.user, 'context.user'), 'user')
  refuse(cluster, ['certificate-authority', 'proxy-url', 'insecure-skip-tls-verify', 'tls-server-name'])
  refuse(user, [
    'exec',
    'auth-provider',
    'tokenFile',
    'client-certificate',
    'client-key',
    'as',
    'as-groups',
    'as-uid',
    'as-user-extra',
  ])
  const ca = decoded(cluster, 'certificate-authority-data')
  const cert = decoded(user, 'client-certificate-data')
  const key = decoded(user, 'client-key-data')
  return {
    url: textOf(cluster.server, 'cluster.server'),
    tls: { ...(ca && { ca }), ...(cert && { cert }), ...(key && { key }) },
    headers: authorizationOf(user),
  }
}

function authorizationOf({ token, username, password }: Fields): Record<string, string> {
  if (typeof token === 'string' && token !== '') return { authorization: `Bearer ${token}` }
  if (typeof username !== 'string' || username === '') return {}
  const basic = Buffer.from(`${username}:${String(password ?? '')}`).toString('base64')
  return { authorization: `Basic ${basic}` }
}

function named(list: unknown, name: string, member: 'context' | 'cluster' | 'user'): Fields {
  const entries = Array.isArray(list) ? list : []
  const found = entries.find(entry => (entry as Fields | null)?.name === name) as Fields | undefined
  if (found === undefined) throw new Unusable(`the kubeconfig has no ${member} ${JSON.stringify(name)}`)
  return record(found[member], `${member} ${JSON.stringify(name)}`)
}

/** A field that is there and means something. */
const isSet = (value: unknown): boolean =>
  value !== undefined && value !== null && value !== '' && value !== false

function refuse(fields: Fields, names: readonly string[]): void {
  const found = names.find(name => isSet(fields[name]))
  if (found !== undefined) throw new Unusable(`the kubeconfig uses ${found}, which is not allowed here`)
}

function decoded(fields: Fields, name: string): string | undefined {
  const value = fields[name]
  if (!isSet(value)) return undefined
  const text = Buffer.from(textOf(value, name), 'base64').toString()
  if (!text.includes('-----BEGIN ')) throw new Unusable(`${name} of the kubeconfig is not PEM in base64`)
  return text
}

function textOf(value: unknown, what: string): string {
  if (typeof value !== 'string' || value === '') throw new Unusable(`the kubeconfig has no ${what}`)
  return value
}

function record(value: unknown, what: string): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new Unusable(`${what} is not an object`)
  return value as Fields
}
