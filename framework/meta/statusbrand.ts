/** Marks the `StatusError`s of all copies of the framework: a plugin may import a second one from the package. */
export const statusBrand = Symbol.for('oriel/StatusError')

/** Whether a value is a `StatusError` of another copy of the framework, with a Status that can be sent. */
export function isForeignStatus(value: unknown): boolean {
  if (!(value instanceof Error) || !(statusBrand in value)) return false
  const { code, message } = (value as { status?: { code?: unknown; message?: unknown } | null }).status ?? {}
  return Number.isInteger(code) && Number(code) >= 300 && Number(code) < 600 && typeof message === 'string'
}
