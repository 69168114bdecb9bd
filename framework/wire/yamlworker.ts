import { parentPort } from 'node:worker_threads'
import { StatusError } from '../meta/errors.ts'
import { parseYaml, type YamlContent } from './yaml.ts'

/** The answer to one text. */
export type YamlAnswer =
  | { readonly content: YamlContent }
  | { readonly syntaxError: string }
  /** The message of a 413. */
  | { readonly tooLarge: string }

function answerTo(text: string): YamlAnswer {
  try {
    const { value, duplicates } = parseYaml(text)
    return { content: { value, duplicates } }
  } catch (error) {
    if (error instanceof StatusError) return { tooLarge: error.message }
    if (error instanceof SyntaxError) return { syntaxError: error.message }
    throw error
  }
}

parentPort?.on('message', (text: string) => parentPort?.postMessage(answerTo(text)))
