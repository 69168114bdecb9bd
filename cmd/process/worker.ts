import type { StoreSaid, StoreTold } from './storeline.ts'

/** The tokens of the built-in administrators. */
export interface AdminTokens {
  readonly kcpAdminToken: string
  readonly shardAdminToken: string
}

/** What a worker process says to the process that started it. */
export type WorkerSaid =
  | { readonly kind: 'ready'; readonly banner: string }
  /** A question for all workers, such as for their metrics. */
  | { readonly kind: 'ask'; readonly id: number }
  | { readonly kind: 'answer'; readonly id: number; readonly text: string }
  /** A question for the tokens of the administrators. */
  | { readonly kind: 'askAdmins' }
  | StoreSaid

/** What a worker process gets: a question, and all answers to its own question. */
export type WorkerTold =
  | { readonly kind: 'asked'; readonly id: number }
  | { readonly kind: 'answers'; readonly id: number; readonly texts: readonly string[] }
  | { readonly kind: 'admins'; readonly tokens: AdminTokens | undefined }
  | StoreTold

/** The environment variable with the number of a worker, from 1 on. */
export const workerNumber = 'ORIEL_REPLICA'

/** Whether `node:cluster`, which takes long to load, has started this process. */
export const isWorker = (): boolean => process.env[workerNumber] !== undefined && process.send !== undefined
