import { once } from 'node:events'
import type { ServerRole } from './role.ts'

/** What a member says to the process that started it, when it answers. */
export interface MemberReady {
  /** `https://host:port` */
  readonly url: string
}

/**
 * The role of a server that another process started over an IPC channel, among others of one installation. It ends when
 * that process sends SIGTERM or has ended.
 */
export class MemberRole implements ServerRole {
  readonly isWorker = false
  readonly isFirst = true
  readonly #orphaned = (): never => process.exit(1)

  /** A terminal sends SIGINT to all processes: the one that started them decides when this one stops. */
  constructor() {
    process.on('SIGINT', () => undefined)
    process.once('disconnect', this.#orphaned)
  }

  /** The first message of the process that started this one. */
  async config<T>(): Promise<T> {
    const [config] = await once(process, 'message')
    return config
  }

  ready(_banner: string, url: string): void {
    process.send?.({ url } satisfies MemberReady)
  }

  stopped(): Promise<unknown> {
    return once(process, 'SIGTERM')
  }

  end(): void {
    process.removeListener('disconnect', this.#orphaned)
    process.disconnect()
  }
}
