import { watch } from 'node:fs'
import { basename } from 'node:path'
import type { Logger } from '../../framework/contract/log.ts'
import type { Server } from '../../framework/server/server.ts'
import { prepareServing, readServing, servingPaths } from './servingfiles.ts'

export interface CertificateWatchOptions {
  readonly directory: string
  /** Subject alternative names of renewed certificates. */
  readonly hosts: readonly string[]
  readonly server: Pick<Server, 'useCertificate'>
  readonly log: Logger
  /** Ends the watch. */
  readonly signal: AbortSignal
}

const day = 24 * 60 * 60 * 1000
/** Milliseconds to wait after a change: a certificate and its key are written one after the other. */
const settle = 200

/** Reloads the serving certificate of a data directory when its files change, and renews it before it expires. */
export function watchCertificate(options: CertificateWatchOptions): void {
  const { directory, hosts, log, signal } = options
  const { certificate, key } = servingPaths(directory)
  const names = new Set([certificate, key].map(path => basename(path)))
  let timer: NodeJS.Timeout | undefined
  watch(directory, { signal, persistent: false }, (_event, name) => {
    if (name === null || !names.has(name)) return
    clearTimeout(timer)
    timer = setTimeout(() => void reload(options), settle).unref()
  })
  const renewal = setInterval(() => {
    prepareServing(directory, hosts).catch(error =>
      log.error({ error: String(error) }, 'certificate renewal failed'),
    )
  }, day).unref()
  signal.addEventListener('abort', () => clearInterval(renewal))
}

async function reload({ directory, server, log }: CertificateWatchOptions): Promise<void> {
  try {
    const files = await readServing(directory)
    if (files === undefined) return
    server.useCertificate({ cert: files.certificate, key: files.key })
    log.info({}, 'serving certificate reloaded')
  } catch (error) {
    log.warn({ error: String(error) }, 'invalid serving certificate: the previous one is still used')
  }
}
