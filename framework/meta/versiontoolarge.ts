import { StatusError } from './errors.ts'

/** Whether a server refuses a resourceVersion that it has not reached (apiserver `storage.IsTooLargeResourceVersion`). */
export const isVersionTooLarge = (error: unknown): boolean =>
  error instanceof StatusError &&
  error.status.details?.causes?.some(({ reason }) => reason === 'ResourceVersionTooLarge') === true
