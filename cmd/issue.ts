import { fork } from 'node:child_process'
import { once } from 'node:events'
import type { KeyPair } from './certificates.ts'

export interface IssueRequest {
  /** Signs; made when absent. */
  readonly authority?: KeyPair
  /** Host names and addresses of the serving certificate. */
  readonly hosts: readonly string[]
}

export interface Issued {
  readonly authority: KeyPair
  readonly serving: KeyPair
}

/**
 * Makes certificates in a process of its own, so that a first start goes on meanwhile: their library is the slowest to
 * load of all, and its memory goes with the process.
 */
export async function issue(request: IssueRequest): Promise<Issued> {
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js'
  const child = fork(new URL(`./issuer.${extension}`, import.meta.url))
  child.send(request)
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`making certificates failed (${code})`)
  })
  const [issued] = (await Promise.race([once(child, 'message'), ended])) as [Issued]
  return issued
}
