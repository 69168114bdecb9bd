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
  /** Holds back responses until released; with `from`, from the next request that contains it. */
  hold(from?: string): void
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
  /** What a request contains from which responses are held back. */
  holdsFrom: string | undefined
  holdsRequests: boolean
  passed: number
}

/** One connection through a gate. */
class Passage {
  readonly #state: State
  readonly #client: Socket
  readonly #inside: Socket
  readonly #hold: () => void
  #held: Buffer[] = []
  #passed = 0

  constructor(state: State, client: Socket, to: number, hold: () => void) {
    this.#state = state
    this.#hold = hold
    this.#client = client
    this.#inside = connect(to, '127.0.0.1')
    client.on('data', chunk => this.#request(chunk))
    this.#inside.on('data', chunk => this.#response(chunk))
    client.on('error', () => this.#inside.destroy()).on('close', () => this.#inside.destroy())
    this.#inside.on('error', () => client.destroy()).on('close', () => client.destroy())
    if (state.isHeld) this.#inside.pause()
  }

  #request(chunk: Buffer): void {
    const { holdsFrom } = this.#state
    if (holdsFrom !== undefined && chunk.includes(holdsFrom)) this.#hold()
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

  holdResponses(): void {
    this.#inside.pause()
  }

  releaseResponses(): void {
    this.#inside.resume()
  }

  cut(): void {
    this.#client.destroy()
  }
}

/** The open connections of a gate. */
class Passages {
  readonly #state: State
  readonly #to: number
  readonly #open = new Set<Passage>()

  constructor(state: State, to: number) {
    this.#state = state
    this.#to = to
  }

  get size(): number {
    return this.#open.size
  }

  add(client: Socket): void {
    const passage = new Passage(this.#state, client, this.#to, () => this.holdResponses())
    this.#open.add(passage)
    client.on('close', () => this.#open.delete(passage))
  }

  cut(): void {
    for (const passage of this.#open) passage.cut()
  }

  /** `from`: the responses are held from the next request that contains it. */
  holdResponses(from?: string): void {
    if (from !== undefined) this.releaseResponses()
    this.#state.holdsFrom = from
    this.#state.isHeld = from === undefined
    if (this.#state.isHeld) for (const passage of this.#open) passage.holdResponses()
  }

  releaseResponses(): void {
    this.#state.holdsFrom = undefined
    this.#state.isHeld = false
    for (const passage of this.#open) passage.releaseResponses()
  }

  holdRequests(): void {
    this.#state.holdsRequests = true
  }

  releaseRequests(all?: 'all'): void {
    if (all !== undefined) this.#state.holdsRequests = false
    const count = all === undefined ? 1 : Number.POSITIVE_INFINITY
    for (const passage of this.#open) passage.releaseRequests(count)
  }
}

export async function openGate(to: number): Promise<Gate> {
  const state: State = {
    most: undefined,
    isHeld: false,
    holdsFrom: undefined,
    holdsRequests: false,
    passed: 0,
  }
  const passages = new Passages(state, to)
  const server = createServer(client => passages.add(client)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    get open() {
      return passages.size
    },
    get passed() {
      return state.passed
    },
    cut: () => passages.cut(),
    cutAfter: bytes => {
      state.most = bytes
    },
    hold: from => passages.holdResponses(from),
    release: () => passages.releaseResponses(),
    holdRequests: () => passages.holdRequests(),
    releaseRequests: all => passages.releaseRequests(all),
    sever: () => {
      passages.holdRequests()
      passages.holdResponses()
    },
    heal: () => {
      passages.releaseRequests('all')
      passages.releaseResponses()
    },
    close: async () => {
      passages.cut()
      server.close()
      await once(server, 'close')
    },
  }
}
