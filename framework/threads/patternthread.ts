import { extname, join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { FairThread } from './fairthread.ts'
import type { MatchQuestion } from './patternworker.ts'

/** Megabytes of the heap of the thread: compiled patterns take an eighth. */
const mostHeap = 1_024

/** The one thread of this process, from the file beside this one: in the sources, compiled, or in the bundle. */
const thread = new FairThread<MatchQuestion, boolean>({
  start: () =>
    new Worker(join(import.meta.dirname, `patternworker${extname(import.meta.filename)}`), {
      resourceLimits: { maxOldGenerationSizeMb: mostHeap },
    }),
  subject: 'a pattern',
  questions: 'long matches of patterns',
})

/** Whether a pattern matches, found beside the event loop and in turn for each account. Rejects with what `FairThread` throws. */
export const testInThread = (question: MatchQuestion, account: string): Promise<boolean> =>
  thread.ask(question, account)
