import { setTimeout as sleep } from 'node:timers/promises'
import { creatorToken } from '../tools/connection.ts'
import { processorTime, residentMemory } from '../tools/process.ts'
import type { Side } from '../tools/sides.ts'
import { bindings, offer } from './bindings.ts'
import { type Loader, type Requests, type Taken, type Target, type Task, targetOf } from './loader.ts'

/** `OUTSIDE_WORKSPACES=10000`: all workspaces, of which at most 100 have objects. */
const workspaces = Number(process.env.OUTSIDE_WORKSPACES ?? 100)
/** `OUTSIDE_CONNECTIONS=1` */
export const connections = Number(process.env.OUTSIDE_CONNECTIONS ?? 64)
const used = Math.min(workspaces, 100)
/** Of each workspace that has objects. */
const objects = 120
const watchers = 300

/** A measurement of one server. */
export interface Measured {
  readonly perSecond: number
  /** Milliseconds of processor time of the server for one request. */
  readonly processor: number
  readonly p50: number
  readonly p99: number
}

/** What one server took, by the name of the measurement. */
export interface Outside {
  readonly requests: Readonly<Record<string, Measured>>
  /** Events per second at all watchers together. */
  readonly events: Measured
  /** MiB. */
  readonly memory: number
  /** Seconds of processor time since the start of the server. */
  readonly processor: number
}

/** A Workspace as JSON. */
export const workspace = (name: string): string =>
  JSON.stringify({
    apiVersion: 'tenancy.kcp.io/v1alpha1',
    kind: 'Workspace',
    metadata: { name },
    spec: { type: { name: 'universal', path: 'root' } },
  })

/** A ConfigMap of 1 KiB as JSON. */
export const configMap = (name: string): string =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, labels: { app: 'bench' } },
    data: { text: 'x'.repeat(860) },
  })

const root = '/clusters/root/apis/tenancy.kcp.io/v1alpha1/workspaces'
const collection = (i: number): string => `/clusters/root:w${i}/api/v1/namespaces/default/configmaps`
const collections = Array.from({ length: used }, (_, i) => collection(i))
/** The path of all objects. */
export const everywhere = '/clusters/*/api/v1/configmaps'
/** The paths of the objects of one workspace, and of one of them. */
export const oneCollection = collection(0)
export const oneObject = `${oneCollection}/c-0`
export const total = used * objects

const post = (
  paths: readonly string[],
  body: string,
  more: Omit<Requests, 'method' | 'paths' | 'body'>,
): Requests => ({
  method: 'POST',
  paths,
  body,
  contentType: 'application/json',
  ...more,
})

const get = (paths: readonly string[], workers: number, count: number): Requests => ({
  method: 'GET',
  paths,
  workers,
  count,
})

/** The namespace `default` of a new workspace comes after its Ready. */
const workspacesToReady = post([root], workspace('w%d'), {
  workers: 16,
  count: workspaces,
  until: `${root}/w%d`,
  untilHas: '"phase":"Ready"',
})

/** Request i is about object i of the workspace i modulo their number, so that all are in turn. */
const objectOf = (i: number): string => `${collection(i % used)}/c-${i}`
const oneOfEach = Array.from({ length: total }, (_, i) => objectOf(i))

const steps = {
  create: post(collections, configMap('c-%d'), { workers: connections, count: total }),
  get: get(oneOfEach, connections, 3 * total),
  list: get(collections, connections, 4_000),
  'list-all': get([everywhere], 4, 60),
} as const satisfies Readonly<Record<string, Requests>>

/** A server, the program that sends requests, and where steps are reported. */
export interface Subject {
  readonly loader: Loader
  readonly side: Side
  readonly say: (step: string) => void
}

async function take({ loader, side }: Subject, task: Task): Promise<Measured & { readonly taken: Taken }> {
  const before = await processorTime(side.pid)
  const taken = await loader.run(task)
  const { count } = task.requests
  const processor = (((await processorTime(side.pid)) - before) * 1_000) / count
  return { perSecond: count / taken.seconds, processor, p50: taken.p50, p99: taken.p99, taken }
}

/** Makes workspaces, and then sends everything to one server. */
export async function measureOutside(subject: Subject): Promise<Outside> {
  const { loader, side, say } = subject
  const target = targetOf(side)
  say('workspaces')
  const creator = { ...target, token: creatorToken }
  const made = await take(subject, { target: creator, requests: workspacesToReady })
  await namespaces(loader, target)
  const { requests, ...rest } = await measureRequests(subject)
  say('APIBindings')
  const provider = 'root:w0'
  await offer(loader, target, provider)
  const bound = { provider, consumers: 'root:w%d', count: used }
  const binding = await take(subject, { target, requests: bindings(bound) })
  return { requests: { workspaces: made, ...requests, binding }, ...rest }
}

/** Sends everything to one server that has the workspaces, in order: later steps read what earlier ones have made. */
export async function measureRequests(subject: Subject): Promise<Outside> {
  const { side, say } = subject
  const target = targetOf(side)
  const requests: Record<string, Measured> = {}
  for (const [name, step] of Object.entries(steps)) {
    say(name)
    requests[name] = await take(subject, { target, requests: step })
  }
  say('GET over HTTP/2')
  requests['get-http2'] = await take(subject, { target: targetOf(side, true), requests: steps.get })
  say(`${watchers} watchers`)
  const events = await eventsOf(subject, target)
  await sleep(5_000)
  return {
    requests,
    events,
    memory: (await residentMemory(side.pid)).all,
    processor: await processorTime(side.pid),
  }
}

/** kcp ends one of the watches now and then: all is taken again then, with other objects, at most twice. */
async function eventsOf(subject: Subject, target: Target, attempt = 0): Promise<Measured> {
  try {
    return await eventsOnce(subject, target, `e${attempt}-%d`)
  } catch (error) {
    if (attempt === 2) throw error
    subject.say(`${watchers} watchers again: ${(error as Error).message}`)
    return eventsOf(subject, target, attempt + 1)
  }
}

async function eventsOnce(subject: Subject, target: Target, name: string): Promise<Measured> {
  const events = await take(subject, {
    target,
    requests: post(collections, configMap(name), { workers: connections, count: watchers }),
    watches: watchers,
    watched: `${everywhere}?watch=1&sendInitialEvents=false&resourceVersionMatch=NotOlderThan`,
  })
  return { ...events, perSecond: (watchers * watchers) / events.taken.delivered }
}

/** Waits for the namespaces of all workspaces. */
const namespaces = (loader: Loader, target: Target): Promise<Taken> =>
  loader.run({
    target,
    requests: {
      ...get(['/clusters/root:w%d/api/v1/namespaces'], 4, used),
      until: '/clusters/root:w%d/api/v1/namespaces',
      untilHas: '"name":"default"',
    },
  })
