import type { RequestListener } from 'node:http'
import { type Listener, type ListenOptions, listen, type UpgradeListener } from './listener.ts'

/** Who answers what comes in at a port. */
export interface Answering {
  readonly request: RequestListener
  readonly upgrade: UpgradeListener
}

/** A port that is open before there is anybody who answers: requests wait for him. */
export interface Port extends Listener {
  /** `127.0.0.1:6443`: where it is. */
  readonly address: string
  /** `https://127.0.0.1:6443`. */
  readonly url: string
  /** Called once. */
  answer(answering: Answering): void
}

/** Opens a port. Rejects when it is taken. */
export async function openPort(options: ListenOptions): Promise<Port> {
  let answering: Answering | undefined
  let waiting: ((by: Answering) => void)[] = []
  const listener = await listen(
    options,
    (request, response) => {
      if (answering !== undefined) answering.request(request, response)
      else waiting.push(by => response.destroyed || by.request(request, response))
    },
    (request, response, upgrade) => {
      if (answering !== undefined) answering.upgrade(request, response, upgrade)
      else waiting.push(by => upgrade.socket.destroyed || by.upgrade(request, response, upgrade))
    },
  )
  const address = `${urlHost(options.host)}:${listener.port}`
  return {
    ...listener,
    address,
    url: `${options.tls === undefined ? 'http' : 'https'}://${address}`,
    answer(by) {
      answering = by
      for (const tell of waiting) tell(by)
      waiting = []
    },
  }
}

const urlHost = (host: string): string => (host.includes(':') ? `[${host}]` : host)
