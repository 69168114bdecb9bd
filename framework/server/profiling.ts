import type { Session } from 'node:inspector'
import { setTimeout as wait } from 'node:timers/promises'
import { getHeapSnapshot } from 'node:v8'
import type { Lifetime } from '../async/lifetime.ts'
import { forbiddenTo } from '../contract/authorizer.ts'
import { badRequest, StatusError } from '../meta/errors.ts'
import type { Authenticator } from '../request/authenticator.ts'
import type { Answer } from '../request/response.ts'
import { isPrivileged } from '../request/user.ts'
import { refuseImpersonation, userOf } from './access.ts'
import type { Handler } from './serve.ts'

/** The default of Go's `net/http/pprof`, and the longest duration, in seconds. */
const usual = 30
const longest = 300

/**
 * Records which functions use the processor, for the seconds of the query (30 by default): a profile of V8, which Chrome's
 * developer tools and speedscope open. It has names of functions and no data. One profile at a time: further requests
 * are 409.
 */
export class CpuProfiler {
  #isBusy = false

  async answer(query: URLSearchParams, lifetime: Lifetime): Promise<Answer> {
    const seconds = secondsIn(query)
    if (this.#isBusy) throw new StatusError(409, 'Conflict', 'another CPU profile is being recorded')
    this.#isBusy = true
    try {
      lifetime.limit(undefined)
      const profile = await record(seconds, lifetime.signal)
      return download('oriel.cpuprofile', Buffer.from(JSON.stringify(profile)))
    } finally {
      this.#isBusy = false
    }
  }
}

function secondsIn(query: URLSearchParams): number {
  const text = query.get('seconds') ?? String(usual)
  const seconds = Number(text)
  if (!/^\d+(\.\d+)?$/.test(text) || seconds > longest)
    throw badRequest(`seconds: ${JSON.stringify(text)} is not a number from 0 to ${longest}`)
  return seconds
}

async function record(seconds: number, signal: AbortSignal): Promise<object> {
  // Loaded here: most servers record no profile. `import()` does not work in the bundle.
  const { Session: Inspector } = process.getBuiltinModule('node:inspector')
  const session = new Inspector()
  session.connect()
  try {
    await post(session, 'Profiler.enable')
    await post(session, 'Profiler.start')
    await wait(seconds * 1000, undefined, { signal })
    const { profile } = await post(session, 'Profiler.stop')
    return profile ?? {}
  } finally {
    session.disconnect()
  }
}

const post = (session: Session, method: string): Promise<{ readonly profile?: object }> =>
  new Promise((resolve, reject) => {
    session.post(method, (error, result) => {
      if (error === null) resolve(result ?? {})
      else reject(error)
    })
  })

/**
 * All objects in memory, with their content: Secrets and keys of all logical clusters. The process answers no other
 * request while V8 makes the snapshot, and needs twice its memory.
 */
const heapSnapshot = (): Answer => download('oriel.heapsnapshot', getHeapSnapshot())

const download = (name: string, body: Answer['body']): Answer => ({
  status: 200,
  contentType: 'application/json',
  headers: { 'Content-Disposition': `attachment; filename="${name}"`, 'X-Content-Type-Options': 'nosniff' },
  body,
})

export const heapPath = '/debug/pprof/heap'

/** No rule grants a snapshot: it has Secrets, and the credentials of requests in progress. */
export const heapHandler =
  (authenticator: Authenticator): Handler =>
  async exchange => {
    const user = await userOf(authenticator, exchange)
    refuseImpersonation(exchange.incoming)
    if (isPrivileged(user)) return heapSnapshot()
    const info = { isResource: false, verb: 'get', path: heapPath } as const
    throw forbiddenTo(user, info, 'a heap snapshot is for members of system:masters only')
  }
