/** The result of a check. */
export interface Finding {
  /** Name of the check. */
  readonly check: string
  readonly status: 'ok' | 'warning' | 'failed' | 'skipped'
  /** One line. */
  readonly message: string
  /** What the operator should change. */
  readonly change?: string
}

export const ok = (check: string, message: string): Finding => ({ check, status: 'ok', message })
export const skipped = (check: string, message: string): Finding => ({ check, status: 'skipped', message })
export const failed = (check: string, message: string, change: string): Finding => ({
  check,
  status: 'failed',
  message,
  change,
})
export const warning = (check: string, message: string, change: string): Finding => ({
  check,
  status: 'warning',
  message,
  change,
})
