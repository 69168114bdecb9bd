/** An error in flags or files. The message is one sentence that says what to change. */
export class StartError extends Error {
  override readonly name = 'StartError'
}

/** The `code` of a system error such as `EADDRINUSE`; '' for others. */
export const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''
