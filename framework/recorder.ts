import type { Recorder } from './context.ts'
import type { Logger } from './log.ts'

/** What one request has left behind, for the answer's headers and for the log. */
export interface Recording extends Recorder {
  /** The values of the `Warning` headers, in the order of their first appearance. */
  warnings(): readonly string[]
  annotations(): Readonly<Record<string, string>>
}

/** All warnings of one answer together, and one warning once they are over that, in code points (chapter 40, rule 1.53). */
const budget = 4096
const shortened = 256

/** `log` is made on first use: most requests log nothing of their own. */
export function createRecording(makeLog: () => Logger): Recording {
  let log: Logger | undefined
  const texts = new Set<string>()
  const annotations: Record<string, string> = {}
  return {
    get log() {
      log ??= makeLog()
      return log
    },
    warn: text => void texts.add(text),
    annotate: (key, value) => {
      annotations[key] = value
    },
    warnings: () => withinBudget([...texts]).map(headerValue),
    annotations: () => annotations,
  }
}

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
