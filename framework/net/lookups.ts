import { type LookupAddress, type LookupOptions, lookup } from 'node:dns'
import type { LookupFunction } from 'node:net'

type Answer = (error: NodeJS.ErrnoException | null, found: readonly LookupAddress[]) => void

/** Resolves a host name to all its addresses, as `dns.lookup` does with `all`. */
export type ResolveHost = (host: string, options: LookupOptions, answer: Answer) => void

/** A lookup takes a thread of libuv's pool until the name servers answer or the resolver gives up, which may take half a minute. */
const resolveHost: ResolveHost = (host, options, answer) =>
  lookup(host, { ...options, all: true }, (error, found) => answer(error, found))

export interface LookupLimits {
  /** Lookups at a time. Default 8: three address policies leave a quarter of the 32 lookups of 64 threads to this server. */
  readonly most?: number
  /** Lookups at a time of names below one domain, which has name servers of its own. Default 2. */
  readonly mostOfDomain?: number
  /** Milliseconds in the queue. Default: the 10 s in which a connection has to be open. */
  readonly longest?: number
}

interface Lookup {
  readonly host: string
  readonly options: LookupOptions
  readonly answers: Answer[]
  /** From `performance.now()`. */
  readonly since: number
}

const keyOf = ({ host, options: { family, hints, order } }: Pick<Lookup, 'host' | 'options'>): string =>
  JSON.stringify([host.toLowerCase(), family, hints, order])

/** The last two labels. */
const domainOf = (host: string): string => host.toLowerCase().split('.').filter(Boolean).slice(-2).join('.')

/**
 * Lookups of host names: one for all who ask for a name at the same time, and no more at a time than the limits allow, so that
 * name servers that do not answer cannot hold up the lookups of other names.
 */
export class Lookups {
  readonly #resolve: ResolveHost
  readonly #limits: Required<LookupLimits>
  readonly #known = new Map<string, Lookup>()
  #waiting: readonly Lookup[] = []
  #running: readonly Lookup[] = []

  constructor(limits: LookupLimits = {}, resolve: ResolveHost = resolveHost) {
    this.#limits = { most: 8, mostOfDomain: 2, longest: 10_000, ...limits }
    this.#resolve = resolve
  }

  readonly resolve: ResolveHost = (host, options, answer) => {
    const key = keyOf({ host, options })
    const known = this.#known.get(key)
    if (known !== undefined) return void known.answers.push(answer)
    const asked: Lookup = { host, options, answers: [answer], since: performance.now() }
    this.#known.set(key, asked)
    this.#waiting = [...this.#waiting, asked]
    this.#advance()
  }

  #advance(): void {
    for (let next = this.#next(); next !== undefined; next = this.#next()) {
      this.#waiting = this.#waiting.filter(each => each !== next)
      if (performance.now() - next.since > this.#limits.longest) this.#answer(next, tooMany(next.host), [])
      else this.#run(next)
    }
  }

  /** The oldest lookup that may run. */
  #next(): Lookup | undefined {
    const { most, mostOfDomain } = this.#limits
    if (this.#running.length >= most) return undefined
    const domains = this.#running.map(({ host }) => domainOf(host))
    const isFree = ({ host }: Lookup): boolean =>
      domains.filter(each => each === domainOf(host)).length < mostOfDomain
    return this.#waiting.find(isFree)
  }

  #run(next: Lookup): void {
    this.#running = [...this.#running, next]
    this.#resolve(next.host, next.options, (error, found) => {
      this.#running = this.#running.filter(each => each !== next)
      this.#answer(next, error, found)
      this.#advance()
    })
  }

  #answer(asked: Lookup, ...[error, found]: Parameters<Answer>): void {
    this.#known.delete(keyOf(asked))
    for (const answer of asked.answers) answer(error, found)
  }
}

/** Calls back with the addresses of a name as `net.connect` wants them. */
export function addressesTo(
  callback: Parameters<LookupFunction>[2],
  { all }: LookupOptions,
  found: readonly LookupAddress[],
): void {
  const [first] = found
  if (all === true || first === undefined) callback(null, [...found])
  else callback(null, first.address, first.family)
}

/** Lookups of the hosts that an operator names: any number of names at a time, each once. */
export function lookupOnce(): LookupFunction {
  const { resolve } = new Lookups({ most: Infinity, mostOfDomain: Infinity })
  return (host, options, callback) =>
    resolve(host, options, (error, found) => {
      if (error === null) addressesTo(callback, options, found)
      else callback(error, '')
    })
}

/** The error of a resolver that gave up: the connection may be tried again. */
const tooMany = (host: string): NodeJS.ErrnoException =>
  Object.assign(new Error(`getaddrinfo EAI_AGAIN ${host}: too many lookups`), { code: 'EAI_AGAIN' })
