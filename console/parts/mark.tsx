import type { JSX } from 'preact'

/** The mark of Oriel: a bay window. */
export const Mark = (): JSX.Element => (
  <svg class="mark" viewBox="0 0 32 32" aria-hidden="true">
    <rect width="32" height="32" rx="7" />
    <path d="M7 22V12l9-5 9 5v10M7 22h18M16 7v15M7 14.5h18" />
  </svg>
)
