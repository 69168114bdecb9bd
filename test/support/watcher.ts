import { get, type RequestOptions } from 'node:https'
import { KubeConfig, type KubernetesObject, Watch } from '@kubernetes/client-node'
import type { Oriel } from './oriel.ts'

/** An event of the client library. */
export interface Seen {
  readonly type: string
  readonly object: KubernetesObject
}

/** The admin's credentials at any URL of the server. */
export function configAt(oriel: Oriel, url: string, context = 'base'): KubeConfig {
  const loaded = new KubeConfig()
  loaded.loadFromFile(oriel.kubeconfig)
  loaded.setCurrentContext(context)
  const cluster = loaded.getCurrentCluster()
  if (cluster === null) throw new Error(`no cluster in context ${context}`)
  const there = new KubeConfig()
  there.loadFromClusterAndUser({ ...cluster, server: url }, loaded.getCurrentUser() ?? { name: 'nobody' })
  return there
}

/** A user with a token, or without credentials, at any URL of the server. */
export function userAt(oriel: Oriel, url: string, token?: string): KubeConfig {
  const cluster = configAt(oriel, url).getCurrentCluster()
  if (cluster === null) throw new Error('the kubeconfig has no cluster')
  const config = new KubeConfig()
  config.loadFromClusterAndUser(cluster, {
    name: 'user',
    ...(token && { token }),
  })
  return config
}

/** A watch by @kubernetes/client-node that records its events. */
export interface Watcher {
  readonly seen: readonly Seen[]
  /** Resolves with the first event, past or future, that satisfies the condition. */
  next(satisfies: (event: Seen) => boolean): Promise<Seen>
  stop(): void
}

export async function watch(
  config: KubeConfig,
  path: string,
  query: Record<string, string | number | boolean | undefined> = {},
): Promise<Watcher> {
  const seen: Seen[] = []
  const waiting = new Set<() => void>()
  let ended: Error | undefined
  const wake = () => {
    for (const check of waiting) check()
  }
  const onEvent = (type: string, object: KubernetesObject) => {
    seen.push({ type, object })
    wake()
  }
  const onEnd = (error?: Error) => {
    ended = error ?? new Error('the watch ended')
    wake()
  }
  const controller = await new Watch(config).watch(path, query, onEvent, onEnd)
  const next = (satisfies: (event: Seen) => boolean) =>
    new Promise<Seen>((resolve, reject) => {
      const check = () => {
        const found = seen.find(satisfies)
        if (found === undefined && ended === undefined) return
        waiting.delete(check)
        if (found === undefined)
          reject(new Error(`${ended?.message}; saw ${JSON.stringify(seen.map(s => s.type))}`))
        else resolve(found)
      }
      waiting.add(check)
      check()
    })
  return { seen, next, stop: () => controller.abort() }
}

/** One GET with the admin's credentials. */
export async function request(config: KubeConfig, path: string): Promise<{ status: number; body: string }> {
  const options: RequestOptions = {}
  await config.applyToHTTPSOptions(options)
  return new Promise((resolve, reject) => {
    const url = `${config.getCurrentCluster()?.server}${path}`
    get(url, options, response => {
      const chunks: Buffer[] = []
      response.on('data', chunk => chunks.push(chunk))
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, body: Buffer.concat(chunks).toString() }),
      )
    }).on('error', reject)
  })
}
