import { StatusError } from './errors.ts'

/** Whether an error is a `StatusError` with one of these HTTP statuses. */
export const hasCode = (error: unknown, ...codes: readonly number[]): boolean =>
  error instanceof StatusError && codes.includes(error.code)

/** Whether an error is a 404 (`apierrors.IsNotFound`, with any reason). */
export const isNotFound = (error: unknown): boolean => hasCode(error, 404)

/** For `catch`: undefined for 404. Throws other errors (`client.IgnoreNotFound` of controller-runtime). */
export function unlessNotFound(error: unknown): undefined {
  if (!isNotFound(error)) throw error
}

/** Whether a server refuses a resourceVersion that it has not reached (apiserver `storage.IsTooLargeResourceVersion`). */
export const isVersionTooLarge = (error: unknown): boolean =>
  error instanceof StatusError &&
  error.status.details?.causes?.some(({ reason }) => reason === 'ResourceVersionTooLarge') === true
