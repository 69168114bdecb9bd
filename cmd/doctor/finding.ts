/** What one check found out. */
export interface Finding {
  /** Which check: a word. */
  readonly check: string
  readonly status: 'ok' | 'warning' | 'failed' | 'skipped'
  /** One line. */
  readonly message: string
  /** What to change. */
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
