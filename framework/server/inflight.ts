import type { RequestInfo } from '../request/requestinfo.ts'
import type { Answer } from '../request/response.ts'
import { isPrivileged, type UserInfo } from '../request/user.ts'
import { text } from './health.ts'

/** How many requests may be under way at the same time, besides long-running ones; 0: any number. */
export interface InflightLimits {
  readonly reading: number
  readonly mutating: number
}

/** Kubernetes' (chapter 40, rule 1.50). */
export const defaultInflight: InflightLimits = { reading: 400, mutating: 200 }

/** Places of requests that are under way. */
export interface Inflight {
  /** Takes a place, to be left by calling what it returns; undefined: there is none left. */
  enter(user: UserInfo, info: RequestInfo): (() => void) | undefined
}

const readingVerbs: ReadonlySet<string> = new Set(['get', 'list', 'watch', 'head', 'options'])
const leaveNothing = (): void => undefined

/** The privileged always get in: how else would anybody look after a server that is overrun? */
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
