import { extname, join } from 'node:path'
import { Worker } from 'node:worker_threads'
import type { Awaitable } from '../async/awaitable.ts'
import { StatusError } from '../meta/errors.ts'
import { FairThread } from '../threads/fairthread.ts'
import { parseYaml, type YamlContent } from './yaml.ts'
import type { YamlAnswer } from './yamlworker.ts'

/** Characters of a document that is parsed at once, within a few milliseconds. */
const short = 4 * 1024
/** Megabytes of the heap of the thread: a document of 3 MB takes a tenth. */
const mostHeap = 1_024

/** The thread, from the file beside this one: in the sources, compiled, or in the bundle. */
const thread = (): Worker =>
  new Worker(join(import.meta.dirname, `yamlworker${extname(import.meta.filename)}`), {
    resourceLimits: { maxOldGenerationSizeMb: mostHeap },
  })

/**
 * Parses YAML. Long documents are parsed in a thread, one after the other and in turn for each user, because the parser
 * takes microseconds per token.
 */
export class YamlReader {
  readonly #thread: FairThread<string, YamlAnswer>

  constructor(start = thread) {
    this.#thread = new FairThread({ start, subject: 'YAML', questions: 'YAML documents' })
  }

  /** Throws, or rejects with, what `parseYaml` and `FairThread` throw. */
  read(text: string, user: string): Awaitable<YamlContent> {
    if (text.length > short) return this.#thread.ask(text, user).then(contentOf)
    const { value, duplicates } = parseYaml(text)
    return { value, duplicates }
  }

  /** Ends the thread. */
  close(): void {
    this.#thread.close()
  }
}

function contentOf(answer: YamlAnswer): YamlContent {
  if ('content' in answer) return answer.content
  if ('tooLarge' in answer) throw new StatusError(413, 'RequestEntityTooLarge', answer.tooLarge)
  throw new SyntaxError(answer.syntaxError)
}
