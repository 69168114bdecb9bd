import type { Decision } from '../contract/authorizer.ts'
import type { DecisionDomain, Recorder } from '../contract/context.ts'
import type { Logger } from '../contract/log.ts'

/** What one request has left behind, for the answer's headers and for the log. */
export interface Recording extends Recorder {
  /** The values of the `Warning` headers, in the order of their first appearance. */
  warnings(): readonly string[]
  annotations(): Readonly<Record<string, string>>
}

/** All warnings of one answer together, and one warning once they are over that, in code points (chapter 40, rule 1.53). */
const budget = 4096
const shortened = 256

/** Who wants to know of decisions: the audit log, where there is one. */
export type Listener = Pick<Required<Recorder>, 'decided'>

/** `log`: the server's. Lines of the request have its id. */
export const createRecording = (
  log: Logger,
  request: { readonly auditId: string },
  audit?: Listener,
): Recording => new RequestRecording(log, request, audit)

/** A class, because there is one for every request and closures would be made anew each time. */
class RequestRecording implements Recording {
  readonly #serverLog: Logger
  readonly #request: { readonly auditId: string }
  readonly #audit: Listener | undefined
  /** Made on first use: most requests log nothing of their own. */
  #log: Logger | undefined
  #texts: Set<string> | undefined
  #annotations: Record<string, string> | undefined

  constructor(log: Logger, request: { readonly auditId: string }, audit: Listener | undefined) {
    this.#serverLog = log
    this.#request = request
    this.#audit = audit
  }

  get log(): Logger {
    this.#log ??= this.#serverLog.child({ audit: this.#request.auditId })
    return this.#log
  }

  warn(text: string): void {
    this.#texts ??= new Set()
    this.#texts.add(text)
  }

  annotate(key: string, value: string): void {
    this.#annotations ??= {}
    this.#annotations[key] = value
  }

  decided(domain: DecisionDomain, decision: Decision): void {
    this.#audit?.decided(domain, decision)
  }

  warnings(): readonly string[] {
    return this.#texts === undefined ? none : withinBudget([...this.#texts]).map(headerValue)
  }

  annotations(): Readonly<Record<string, string>> {
    return this.#annotations ?? {}
  }
}

const none: readonly string[] = []

function withinBudget(texts: readonly string[]): readonly string[] {
  const length = texts.reduce((sum, text) => sum + [...text].length, 0)
  if (length <= budget) return texts
  const short = texts.map(text => [...text].slice(0, shortened).join(''))
  let used = 0
  return short.filter(text => {
    used += [...text].length
    return used <= budget
  })
}

/** `299 - "…"` as UTF-8 bytes, which Node writes from a string of single bytes. */
function headerValue(text: string): string {
  const quoted = text.replace(/\p{Cc}/gu, '').replace(/["\\]/g, '\\$&')
  return Buffer.from(`299 - "${quoted}"`, 'utf8').toString('latin1')
}
