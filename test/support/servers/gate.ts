import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** A TCP proxy to a port that can interrupt connections. */
export interface Gate {
  readonly port: number
  /** The number of open connections. */
  readonly open: number
  /** The number of bytes of responses that have passed. */
  readonly passed: number
  /** Cuts all connections; new ones are accepted. */
  cut(): void
  /** Cuts every connection after this many bytes of responses; undefined: none. */
  cutAfter(bytes: number | undefined): void
  /** Holds back responses until released. */
  hold(): void
  release(): void
  /** Holds back requests until released: later ones stay where they are, and the first held ones can be released alone. */
  holdRequests(): void
  /** Passes on what each connection sent first since the requests are held, or with `all` everything. */
  releaseRequests(all?: 'all'): void
  /** Nothing passes in either direction, as in a network that drops all packets. */
  sever(): void
  /** Ends `sever`: as in a network that repeats packets, everything arrives late. */
  heal(): void
  close(): Promise<void>
}

/** The state of a gate, which its connections read. */
interface State {
  most: number | undefined
  isHeld: boolean
  holdsRequests: boolean
  passed: number
}

/** One connection through a gate. */
class Passage {
  readonly #state: State
  readonly #client: Socket
  readonly #inside: Socket
  #held: Buffer[] = []
  #passed = 0

  constructor(state: State, client: Socket, to: number) {
    this.#state = state
    this.#client = client
    this.#inside = connect(to, '127.0.0.1')
    client.on('data', chunk => this.#request(chunk))
    this.#inside.on('data', chunk => this.#response(chunk))
    client.on('error', () => this.#inside.destroy()).on('close', () => this.#inside.destroy())
    this.#inside.on('error', () => client.destroy()).on('close', () => client.destroy())
    if (state.isHeld) this.#inside.pause()
  }

  #request(chunk: Buffer): void {
    if (this.#state.holdsRequests) this.#held.push(chunk)
    else this.#inside.write(chunk)
  }

  #response(chunk: Buffer): void {
    const { most } = this.#state
    this.#state.passed += chunk.length
    this.#passed += chunk.length
    if (most !== undefined && this.#passed > most) this.#client.destroy()
    else this.#client.write(chunk)
  }

  releaseRequests(count: number): void {
    for (const chunk of this.#held.splice(0, count)) this.#inside.write(chunk)
  }

  holdResponses(isHeld: boolean): void {
    if (isHeld) this.#inside.pause()
    else this.#inside.resume()
  }

  cut(): void {
    this.#client.destroy()
  }
}

export async function openGate(to: number): Promise<Gate> {
  const passages = new Set<Passage>()
  const state: State = { most: undefined, isHeld: false, holdsRequests: false, passed: 0 }
  const server = createServer(client => {
    const passage = new Passage(state, client, to)
    passages.add(passage)
    client.on('close', () => passages.delete(passage))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const cut = (): void => {
    for (const passage of passages) passage.cut()
  }
  const holdResponses = (isHeld: boolean): void => {
    state.isHeld = isHeld
    for (const passage of passages) passage.holdResponses(isHeld)
  }
  const releaseRequests = (all?: 'all'): void => {
    if (all !== undefined) state.holdsRequests = false
    for (const passage of passages) passage.releaseRequests(all === undefined ? 1 : Number.POSITIVE_INFINITY)
  }
  const holdRequests = (): void => {
    state.holdsRequests = true
  }
  return {
    port: (server.address() as AddressInfo).port,
    get open() {
      return passages.size
    },
    get passed() {
      return state.passed
    },
    cut,
    cutAfter: bytes => {
      state.most = bytes
    },
    hold: () => holdResponses(true),
    release: () => holdResponses(false),
    holdRequests,
    releaseRequests,
    sever: () => {
      holdRequests()
      holdResponses(true)
    },
    heal: () => {
      releaseRequests('all')
      holdResponses(false)
    },
    close: async () => {
      cut()
      server.close()
      await once(server, 'close')
    },
  }
}
