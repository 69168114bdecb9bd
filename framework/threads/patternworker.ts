import { parentPort } from 'node:worker_threads'
import { lazyPattern } from '../formats/pattern.ts'

/** A text and the pattern that it may match; the answer is whether it does. */
export interface MatchQuestion {
  readonly source: string
  readonly text: string
}

parentPort?.on('message', ({ source, text }: MatchQuestion) =>
  parentPort?.postMessage(lazyPattern(source).test(text)),
)
