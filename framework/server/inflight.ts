import type { RequestInfo } from '../request/requestinfo.ts'
import type { Answer } from '../request/response.ts'
import { isPrivileged, type UserInfo } from '../request/user.ts'
import { text } from './health.ts'

/** The limits of concurrent requests, without long-running ones; 0: no limit. */
export interface InflightLimits {
  readonly reading: number
  readonly mutating: number
}

/** Kubernetes' defaults: `--max-requests-inflight`, `--max-mutating-requests-inflight` (rules.md 1.50). */
export const defaultInflight: InflightLimits = { reading: 400, mutating: 200 }

/** Counts concurrent requests. */
export interface Inflight {
  /** Counts a request until the returned function is called; undefined at the limit. */
  enter(user: UserInfo, info: RequestInfo): (() => void) | undefined
}

const readingVerbs: ReadonlySet<string> = new Set(['get', 'list', 'watch', 'head', 'options'])
const leaveNothing = (): void => undefined

/** Privileged users have no limit, so that an overloaded server can be administered. */
export function createInflight(limits: InflightLimits): Inflight {
  const running = { reading: 0, mutating: 0 }
  const leave = { reading: () => void running.reading--, mutating: () => void running.mutating-- }
  return {
    enter(user, info) {
      if (isPrivileged(user)) return leaveNothing
      const kind = readingVerbs.has(info.verb) ? 'reading' : 'mutating'
      if (limits[kind] > 0 && running[kind] >= limits[kind]) return undefined
      running[kind]++
      return leave[kind]
    },
  }
}

export const tooMany: Answer = {
  ...text(429, 'Too many requests, please try again later.\n'),
  headers: { 'Retry-After': '1', 'X-Content-Type-Options': 'nosniff' },
}
