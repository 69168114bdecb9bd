import { unwatchFile, watchFile } from 'node:fs'
import type { Logger } from '../framework/log.ts'
import type { Backends } from '../proxy/backends.ts'
import type { Mapping } from '../proxy/mapping.ts'

/** Looked at so often: such files are often links into folders that are exchanged as a whole. */
const interval = 5_000
/** A certificate and its key are written one after the other. */
const settle = 500

/** New connections to backends use what the mappings' files become, until `signal` aborts. */
export function watchMappings(
  mappings: readonly Mapping[],
  backends: Backends,
  { log, signal }: { readonly log: Logger; readonly signal: AbortSignal },
): void {
  const files = new Set(mappings.flatMap(({ ca, cert, key }) => [ca, cert, key]))
  let timer: NodeJS.Timeout | undefined
  const reload = (): void => {
    backends.reload().then(
      () => log.info({}, 'the certificates of the mappings have been read again'),
      error => log.warn({ error: String(error) }, 'the changed certificates of a mapping cannot be used'),
    )
  }
  for (const file of files) {
    watchFile(file, { interval, persistent: false }, () => {
      clearTimeout(timer)
      timer = setTimeout(reload, settle).unref()
    })
  }
  signal.addEventListener('abort', () => {
    for (const file of files) unwatchFile(file)
  })
}
