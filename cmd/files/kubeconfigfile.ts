import { readFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { parseYaml } from '../../framework/wire/yaml.ts'
import { codeOf, StartError } from './starterror.ts'

/** A server and whom one is to it, as a kubeconfig says it. */
export interface Connection {
  /** `https://host:port/clusters/root`, without a trailing slash. */
  readonly server: string
  /** PEM. Without it the operating system's authorities are believed. */
  readonly ca?: string
  readonly cert?: string
  readonly key?: string
  readonly token?: string
  /** Believes whoever answers. */
  readonly insecure?: true
}

interface Named {
  readonly name?: string
}
interface Config {
  readonly 'current-context'?: string
  readonly contexts?: readonly (Named & {
    readonly context?: { readonly cluster?: string; readonly user?: string }
  })[]
  readonly clusters?: readonly (Named & { readonly cluster?: Settings })[]
  readonly users?: readonly (Named & { readonly user?: Settings })[]
}
type Settings = Readonly<Record<string, unknown>>

/**
 * Reads a context of a kubeconfig, the current one unless another is named. Files that it refers to lie beside it.
 * Throws `StartError` for what is missing, and for plugins that would have to be run.
 */
export async function readConnection(file: string, context?: string): Promise<Connection> {
  const config = configIn(await contentOf(file), file)
  const wanted = context ?? config['current-context']
  const found = config.contexts?.find(({ name }) => name === wanted)?.context
  if (found === undefined) throw new StartError(noContext(file, wanted, config))
  const cluster = config.clusters?.find(({ name }) => name === found.cluster)?.cluster
  const user = config.users?.find(({ name }) => name === found.user)?.user ?? {}
  const server = cluster?.server
  if (cluster === undefined || typeof server !== 'string')
    throw new StartError(`${file} has no server for the context ${JSON.stringify(wanted)}.`)
  if (user.exec !== undefined || user['auth-provider'] !== undefined)
    throw new StartError(`${file} gets credentials from a plugin: give one with a token or a certificate.`)
  const read = (settings: Settings, key: string) => contentFor(settings, key, file)
  return withoutAbsent({
    server: server.replace(/\/+$/, ''),
    ca: await read(cluster, 'certificate-authority'),
    cert: await read(user, 'client-certificate'),
    key: await read(user, 'client-key'),
    token: typeof user.token === 'string' ? user.token : await tokenFile(user, file),
    insecure: cluster['insecure-skip-tls-verify'] === true ? true : undefined,
  })
}

function noContext(file: string, wanted: string | undefined, { contexts = [] }: Config): string {
  const names = contexts.map(({ name }) => JSON.stringify(name)).join(', ')
  const what = wanted === undefined ? 'no current context' : `no context ${JSON.stringify(wanted)}`
  return `${file} has ${what}${names === '' ? '' : `: it has ${names}`}.`
}

function configIn(text: string, file: string): Config {
  try {
    const { value } = parseYaml(text)
    if (typeof value === 'object' && value !== null) return value as Config
  } catch {
    // As for files that are YAML of something else.
  }
  throw new StartError(`${file} is not a kubeconfig.`)
}

/** `<key>-data` in base64, or the file that `<key>` names. */
async function contentFor(settings: Settings, key: string, file: string): Promise<string | undefined> {
  const data = settings[`${key}-data`]
  if (typeof data === 'string') return Buffer.from(data, 'base64').toString('utf8')
  const path = settings[key]
  return typeof path === 'string' ? contentOf(resolve(dirname(file), path)) : undefined
}

async function tokenFile({ tokenFile: path }: Settings, file: string): Promise<string | undefined> {
  return typeof path === 'string' ? (await contentOf(resolve(dirname(file), path))).trim() : undefined
}

async function contentOf(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    throw new StartError(`${path} cannot be read (${codeOf(error)}).`)
  }
}

const withoutAbsent = (found: { readonly [K in keyof Connection]: Connection[K] | undefined }): Connection =>
  Object.fromEntries(
    Object.entries(found).filter(([, value]) => value !== undefined),
  ) as unknown as Connection
