import type { UpstreamEndpoint } from '../contract/upstream.ts'
import { parseYaml } from '../wire/yaml.ts'
import { authorizationOf, type ServerAccess } from './serveraccess.ts'

/** The permitted fields of a kubeconfig. */
export interface KubeconfigPolicy {
  /** Fields of clusters and users that must not be set, with what to do instead. */
  readonly refused: ReadonlyMap<string, string>
  /** Whether messages list the contexts. The kubeconfig of a tenant comes from a Secret, its messages do not stay there. */
  readonly listsContexts: boolean
  /** Stands for the server of each cluster, which need not name one. Absent: it must name one. */
  readonly server?: string
}

const refusedForAll = {
  'proxy-url': 'the server must be reachable directly',
  'tls-server-name': 'set a server that its certificate names',
  exec: 'set a token or a client certificate instead',
  'auth-provider': 'set a token or a client certificate instead',
  as: 'set the credentials of that user instead',
  'as-groups': 'set the credentials of that user instead',
  'as-uid': 'set the credentials of that user instead',
  'as-user-extra': 'set the credentials of that user instead',
}

/**
 * For kubeconfigs of the operator, which flags name: files and `insecure-skip-tls-verify` are allowed. Fields that would
 * have no effect here are refused: ignoring them would connect to another server or as another user.
 */
export const operatorPolicy: KubeconfigPolicy = {
  refused: new Map(Object.entries(refusedForAll)),
  listsContexts: true,
}

/**
 * For kubeconfigs with credentials for several servers, whose URLs come from elsewhere (kcp `pkg/proxy/config.go`, NewConfig, overrides
 * the server of `--shards-kubeconfig`).
 */
export const credentialsPolicy: KubeconfigPolicy = {
  ...operatorPolicy,
  server: 'https://shards.invalid',
}

/** For kubeconfigs of tenants: only inline data. Files and programs would be those of this server. */
export const tenantPolicy: KubeconfigPolicy = {
  refused: new Map(
    Object.entries({
      ...refusedForAll,
      'certificate-authority': 'set certificate-authority-data instead',
      'insecure-skip-tls-verify': 'set certificate-authority-data instead',
      tokenFile: 'set token instead',
      'client-certificate': 'set client-certificate-data instead',
      'client-key': 'set client-key-data instead',
    }),
  ),
  listsContexts: false,
}

/** Files with the parts of a `ServerAccess` that are not inline, as the kubeconfig names them. */
export type KubeconfigFiles = Readonly<Partial<Record<'ca' | 'cert' | 'key' | 'token', string>>>

export interface ParsedKubeconfig {
  readonly access: ServerAccess
  /** Empty where the policy refuses files. */
  readonly files: KubeconfigFiles
}

/** A kubeconfig that cannot be used. The message continues a sentence that begins with its name: `is not YAML`. */
export class KubeconfigError extends Error {
  override readonly name = 'KubeconfigError'
}

type Fields = Readonly<Record<string, unknown>>

/**
 * Reads a context of a kubeconfig (client-go, `tools/clientcmd/api/v1/types.go`), the current one unless another is named.
 * Throws `KubeconfigError`.
 */
export function parseKubeconfig(text: string, policy: KubeconfigPolicy, context?: string): ParsedKubeconfig {
  const config = configIn(text)
  const name = context ?? textIn(config, 'current-context')
  const found = name === undefined ? undefined : entryOf(config.contexts, name, 'context')
  if (name === undefined || found === undefined) throw noContext(name, config, policy)
  const cluster = namedIn(config, 'cluster', textIn(found, 'cluster'))
  const user = namedIn(config, 'user', textIn(found, 'user'))
  for (const [field, instead] of policy.refused)
    if (isSet(cluster[field]) || isSet(user[field]))
      throw new KubeconfigError(`must not set ${field}: ${instead}`)
  return {
    access: { server: policy.server ?? serverIn(cluster, name), ...inlineIn(cluster, user) },
    files: filesIn(cluster, user, policy),
  }
}

/** Of `localhost:6443`, which client-go takes for a host, the URL parser takes `localhost:` for the scheme. */
function serverIn(cluster: Fields, context: string): string {
  const server = textIn(cluster, 'server')
  const place = `for the context ${JSON.stringify(context)}`
  if (server === undefined) throw new KubeconfigError(`has no server ${place}`)
  if (!/^https?:\/\//i.test(server) || !URL.canParse(server))
    throw new KubeconfigError(`has no absolute URL as server ${place}: set one such as https://host:6443`)
  return server.replace(/\/+$/, '')
}

/** The server of a tenant's kubeconfig, or why it cannot be used, in one sentence without a full stop. */
export type TenantKubeconfig = { readonly endpoint: UpstreamEndpoint } | { readonly problem: string }

/** Reads the kubeconfig in a Secret by `tenantPolicy`. */
export function readTenantKubeconfig(text: string): TenantKubeconfig {
  try {
    const { access } = parseKubeconfig(text, tenantPolicy)
    const { ca, cert, key } = access
    const tls = { ...(ca && { ca }), ...(cert && { cert }), ...(key && { key }) }
    return { endpoint: { url: access.server, tls, headers: { ...authorizationOf(access) } } }
  } catch (error) {
    if (error instanceof KubeconfigError) return { problem: `the kubeconfig ${error.message}` }
    throw error
  }
}

/** The token of a user in a kubeconfig; undefined when there is none. Throws `KubeconfigError`. */
export function userToken(text: string, user: string): string | undefined {
  const found = entryOf(configIn(text).users, user, 'user')
  return found && textIn(found, 'token')
}

function configIn(text: string): Fields {
  const value = yamlIn(text)
  if (!isRecord(value)) throw new KubeconfigError('is not a kubeconfig')
  return value
}

function yamlIn(text: string): unknown {
  try {
    return parseYaml(text).value
  } catch {
    throw new KubeconfigError('is not YAML')
  }
}

type EntryKind = 'context' | 'cluster' | 'user'

/** The entry of this name in a list of `{ name, <kind> }`; the first one, as in client-go. */
function entryOf(list: unknown, name: string, kind: EntryKind): Fields | undefined {
  const entries: readonly unknown[] = Array.isArray(list) ? list : []
  const entry = entries.find(each => isRecord(each) && each.name === name)
  const value = isRecord(entry) ? entry[kind] : undefined
  return isRecord(value) ? value : undefined
}

function namedIn(config: Fields, kind: 'cluster' | 'user', name: string | undefined): Fields {
  if (name === undefined && kind === 'user') return {}
  const found = entryOf(config[`${kind}s`], name ?? '', kind)
  if (found === undefined) throw new KubeconfigError(`has no ${kind} ${JSON.stringify(name ?? '')}`)
  return found
}

function noContext(
  wanted: string | undefined,
  { contexts }: Fields,
  { listsContexts }: KubeconfigPolicy,
): KubeconfigError {
  const entries: readonly unknown[] = listsContexts && Array.isArray(contexts) ? contexts : []
  const names = entries.flatMap(each => (isRecord(each) ? [JSON.stringify(each.name)] : [])).join(', ')
  const what = wanted === undefined ? 'no current context' : `no context ${JSON.stringify(wanted)}`
  return new KubeconfigError(`has ${what}${names === '' ? '' : `: it has ${names}`}`)
}

function inlineIn(cluster: Fields, user: Fields): Omit<ServerAccess, 'server'> {
  const ca = pemIn(cluster, 'certificate-authority-data')
  const cert = pemIn(user, 'client-certificate-data')
  const key = pemIn(user, 'client-key-data')
  const [token, username] = [textIn(user, 'token'), textIn(user, 'username')]
  return {
    ...(ca && { ca }),
    ...(cert && { cert }),
    ...(key && { key }),
    ...(token && { token }),
    ...(!token && username && { basic: { username, password: textIn(user, 'password') ?? '' } }),
    ...(cluster['insecure-skip-tls-verify'] === true && { insecure: true }),
  }
}

function filesIn(cluster: Fields, user: Fields, { refused }: KubeconfigPolicy): KubeconfigFiles {
  const named = (fields: Fields, field: string, inline: string): string | undefined =>
    refused.has(field) || isSet(fields[inline]) ? undefined : textIn(fields, field)
  const files = {
    ca: named(cluster, 'certificate-authority', 'certificate-authority-data'),
    cert: named(user, 'client-certificate', 'client-certificate-data'),
    key: named(user, 'client-key', 'client-key-data'),
    token: named(user, 'tokenFile', 'token'),
  }
  return Object.fromEntries(Object.entries(files).filter(([, file]) => file !== undefined))
}

function pemIn(fields: Fields, field: string): string | undefined {
  const value = fields[field]
  if (!isSet(value)) return undefined
  const text = typeof value === 'string' ? Buffer.from(value, 'base64').toString() : ''
  if (!text.includes('-----BEGIN ')) throw new KubeconfigError(`has a ${field} that is not PEM in base64`)
  return text
}

const textIn = (fields: Fields, field: string): string | undefined => {
  const value = fields[field]
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** client-go omits empty fields and fields that are false. */
const isSet = (value: unknown): boolean =>
  value !== undefined && value !== null && value !== '' && value !== false

const isRecord = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
