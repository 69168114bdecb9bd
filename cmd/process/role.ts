import type { Cluster } from 'node:cluster'
import type { Store } from '../../shard/store/store.ts'
import { stopSignal } from './shutdown.ts'
import { lineToParent } from './storeline.ts'
import { type AdminTokens, isWorker, type WorkerSaid, type WorkerTold, workerNumber } from './worker.ts'

/** What differs between a server in one process, and one of several processes that share a port. */
export interface ServerRole {
  /** Whether another process has locked the data directory for this one. */
  readonly isWorker: boolean
  /** Whether this process keeps the files that all processes share. */
  readonly isFirst: boolean
  /** The server answers at `url`; `banner`: for the user. */
  ready(banner: string, url: string): void
  /** Resolves when the server is to stop. */
  stopped(): Promise<unknown>
  /** Called at the end. */
  end(): void
  /** The texts of all processes; `own`: returns that of this one. */
  collect?(own: () => Promise<string>): () => Promise<readonly string[]>
  /** The tokens of the administrators that the process which started this one gives to all; undefined: over etcd. */
  adminTokens?(): Promise<AdminTokens | undefined>
  /** Opens the store that the process which started this one has opened. */
  openParentsStore?(): Promise<Store>
}

/** The role of this process. */
export const serverRole = (): ServerRole => (isWorker() ? new WorkerRole() : aloneRole)

const aloneRole: ServerRole = {
  isWorker: false,
  isFirst: true,
  ready: banner => void process.stdout.write(banner),
  stopped: stopSignal,
  end: () => undefined,
}

const say = (said: WorkerSaid): void => void process.send?.(said)

class WorkerRole implements ServerRole {
  readonly isWorker = true
  readonly isFirst = process.env[workerNumber] === '1'
  readonly #waiting = new Map<number, (texts: readonly string[]) => void>()
  #asked = 0

  ready(banner: string): void {
    say({ kind: 'ready', banner })
  }

  /** A terminal sends SIGINT to all processes: the one that started them tells this one when to stop. */
  stopped(): Promise<unknown> {
    process.on('SIGINT', () => undefined)
    return new Promise(resolve => {
      process.once('SIGTERM', resolve)
    })
  }

  end(): void {
    const cluster: unknown = process.getBuiltinModule('node:cluster')
    ;(cluster as Cluster).worker?.disconnect()
  }

  adminTokens(): Promise<AdminTokens | undefined> {
    return new Promise(resolve => {
      const hear = (told: WorkerTold): void => {
        if (told.kind !== 'admins') return
        process.off('message', hear)
        resolve(told.tokens)
      }
      process.on('message', hear)
      say({ kind: 'askAdmins' })
    })
  }

  async openParentsStore(): Promise<Store> {
    const { openRelayedStore } = await import('../../shard/store/relayed/relayedstore.ts')
    return openRelayedStore(lineToParent())
  }

  collect(own: () => Promise<string>): () => Promise<readonly string[]> {
    process.on('message', (told: WorkerTold) => {
      if (told.kind === 'asked') void own().then(text => say({ kind: 'answer', id: told.id, text }))
      else if (told.kind === 'answers') this.#waiting.get(told.id)?.(told.texts)
    })
    return () =>
      new Promise(resolve => {
        const id = ++this.#asked
        this.#waiting.set(id, texts => {
          this.#waiting.delete(id)
          resolve(texts)
        })
        say({ kind: 'ask', id })
      })
  }
}
