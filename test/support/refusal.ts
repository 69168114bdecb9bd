import assert from 'node:assert/strict'
import { discard, type OrielOptions, startOriel } from './oriel.ts'

/** The output of a start that exits with code 1. Fails the test when the server starts, or exits with another code. */
export async function refusalOf(options: OrielOptions): Promise<string> {
  const message = await startOriel(options).then(
    async oriel => {
      await discard(oriel)
      return 'the server started'
    },
    (error: Error) => error.message,
  )
  const [, text] = /^oriel start ended with 1:\n(.*)$/s.exec(message) ?? []
  return text ?? assert.fail(message)
}
