import { StatusError, serviceUnavailable, timeout, tooManyRequests } from './errors.ts'

/** Why a request ended before its answer did. */
export type Ending = 'client gone' | 'deadline' | 'shutdown' | 'replaced'

// What is answered when an ending strikes before the answer has begun.
const answers: Readonly<Record<Ending, () => StatusError>> = {
  'client gone': () => new StatusError(499, 'ClientGone', 'the client has closed the request'),
  deadline: () => timeout('request did not complete within the allotted timeout'),
  shutdown: () => tooManyRequests('The apiserver is shutting down, please try again later.', 5),
  replaced: () => serviceUnavailable('the served APIs have changed, please try again', 1),
}

/** How long a request may live: one signal, aborted by whatever comes first, with a `StatusError` as its reason. */
export interface Lifetime {
  readonly signal: AbortSignal
  /** A stream that ends now ends whole, as one that is finished (chapter 40, rule 1.41). */
  endsWell(): boolean
  end(ending: Ending): void
  /** Ends when `other` aborts. */
  follow(other: AbortSignal, ending: Ending): void
  /** Ends in so many milliseconds; replaces an earlier deadline. undefined: never. */
  limit(milliseconds: number | undefined): void
  /** Lets go of timers and of followed signals. */
  dispose(): void
}

export function createLifetime(): Lifetime {
  const controller = new AbortController()
  const followed = new AbortController()
  let timer: NodeJS.Timeout | undefined
  let ended: Ending | undefined
  const end = (ending: Ending): void => {
    if (ended !== undefined) return
    ended = ending
    controller.abort(answers[ending]())
  }
  return {
    signal: controller.signal,
    endsWell: () => ended === 'shutdown' || ended === 'replaced',
    end,
    follow(other, ending) {
      if (other.aborted) end(ending)
      else other.addEventListener('abort', () => end(ending), { once: true, signal: followed.signal })
    },
    limit(milliseconds) {
      clearTimeout(timer)
      timer = milliseconds === undefined ? undefined : setTimeout(end, milliseconds, 'deadline')
    },
    dispose() {
      clearTimeout(timer)
      followed.abort()
    },
  }
}
