import { LRUCache } from 'lru-cache'
import { inTurns, Pace } from '../../async/awaitable.ts'
import { Debts } from '../../async/debts.ts'
import { laterTurn } from '../../async/turn.ts'
import { clusterAnnotation, type Item } from '../../contract/item.ts'
import type { Logger } from '../../contract/log.ts'
import { fieldErrorText, tooManyRequests } from '../../meta/errors.ts'
import type { KubeObject } from '../../meta/object.ts'
import type { AddressPolicy } from '../../net/addresspolicy.ts'
import { decodedAtOnce, decodeObjectSteps } from '../../wire/encodesteps.ts'
import { enterReview, newReviewSeats } from '../reviewseats.ts'
import type { ExpressionCompiler, JwtConfig } from './config.ts'
import { brief } from './failures.ts'
import { type InSeat, keptKeys } from './issuerkeys.ts'
import { type JwtIssuer, jwtIssuer, jwtVerdicts } from './jwttokens.ts'
import { bytesOfRules, excessOf } from './limits.ts'
import { checkRules } from './rules.ts'

export interface ConfiguredIssuersOptions {
  readonly compiler: ExpressionCompiler
  /** The issuers of the server itself, which tenants must not configure. */
  readonly forbidden: readonly string[]
  /** Where tenants' issuers may be. */
  readonly addresses: AddressPolicy
  readonly log: Logger
}

interface Configuration extends KubeObject {
  readonly spec?: { readonly jwt?: readonly JwtConfig[] }
}

/** One entry of `spec.jwt`. */
interface Entry {
  readonly config: JwtConfig
  readonly index: number
}

/** The entries of one state of a configuration, by the URL of their issuer. */
type Entries = ReadonlyMap<string, readonly Entry[]>

interface Read {
  readonly version: string
  readonly entries: Promise<Entries>
}

/** Absent for an entry that is not valid. */
interface Built {
  readonly issuer?: JwtIssuer
}

/** Bytes of the configurations that are kept decoded, and of the issuers with their compiled expressions. */
const [mostRead, mostBuilt] = [64 * 1024 * 1024, 128 * 1024 * 1024]

/** Requests to issuers at a time. */
const mostRequests = 64
const asksTooMany = 'Too many issuers of tokens are being asked for keys, please try again later.'

/**
 * Work for the configurations of one logical cluster, in bytes of compiled rules, which take a tenth of a second per MiB.
 */
const rate = { perSecond: 1024 * 1024, burst: 64 * 1024 * 1024 }
/** The same work: decoding a byte, a request to an issuer, and checking and trusting a character of certificates. */
const costs = { decode: 1 / 8, request: 16 * 1024, check: 16, trust: 2 }
const worksTooMuch = 'The issuers of tokens are being read too often, please try again later.'

/** Of a configuration in one line of the log. */
const mostErrors = 10

/**
 * The issuers of WorkspaceAuthenticationConfigurations. Only those that a token names are compiled, one in a turn of the event
 * loop, and kept.
 */
export class ConfiguredIssuers {
  readonly #options: ConfiguredIssuersOptions
  readonly #read = new LRUCache<string, Read>({ maxSize: mostRead })
  readonly #built = new LRUCache<string, Built>({ maxSize: mostBuilt })
  // One for the issuers of all tenants: each of them can make any number of keys, and of tokens.
  readonly #kept = keptKeys()
  readonly #verdicts = jwtVerdicts()
  // Anyone can send tokens that name an issuer, and each issuer may keep a connection open for ten seconds.
  readonly #seats = newReviewSeats(mostRequests)
  // What is not kept is read, compiled and fetched again for each token, which needs no signature for that.
  readonly #debts = new Debts(rate)
  #count = 0

  constructor(options: ConfiguredIssuersOptions) {
    this.#options = options
  }

  /** The issuers with this URL, at most `most`, in the order of the configurations. */
  async at(url: string, items: readonly Item[], most: number): Promise<readonly JwtIssuer[]> {
    const pace = new Pace()
    const found: JwtIssuer[] = []
    let left = most
    for (const item of items)
      for (const entry of (await this.#entriesOf(item, pace)).get(url) ?? []) {
        if (left-- === 0) return found
        const { issuer } = await this.#issuerOf(item, entry)
        if (issuer !== undefined) found.push(issuer)
      }
    return found
  }

  #entriesOf(item: Item, pace: Pace): Promise<Entries> {
    const { resourceVersion: version, uid } = item.meta
    const known = this.#read.get(uid)
    if (known?.version === version) return known.entries
    this.#spend(item.key.cluster, item.bytes.length * costs.decode)
    const entries = objectOf(item, pace).then(object => this.#entriesIn(object))
    this.#read.set(uid, { version, entries }, { size: item.bytes.length + 1 })
    return entries
  }

  /** No entries of a configuration that is too large. */
  #entriesIn(object: Configuration): Entries {
    const configs = object.spec?.jwt ?? []
    const excess = excessOf(configs)
    if (excess === undefined) return byUrl(configs)
    this.#warn(object.metadata.annotations?.[clusterAnnotation], object.metadata.name, [excess])
    return new Map()
  }

  async #issuerOf({ meta }: Item, entry: Entry): Promise<Built> {
    const id = `${meta.uid} ${meta.resourceVersion} ${entry.index}`
    const known = this.#built.get(id)
    if (known !== undefined) return known
    await laterTurn()
    return this.#built.get(id) ?? this.#buildNow(id, meta, entry)
  }

  #buildNow(id: string, meta: Item['meta'], entry: Entry): Built {
    const size = bytesOfRules(entry.config)
    this.#spend(meta.cluster, size + costs.check * authoritiesOf(entry.config))
    const built = this.#build(meta, entry)
    this.#built.set(id, built, { size })
    return built
  }

  /** Throws 429 while the logical cluster owes too much. */
  #spend(cluster: string, units: number): void {
    const wait = this.#debts.wait(cluster)
    if (wait > 0) throw tooManyRequests(worksTooMuch, Math.ceil(wait / 1_000))
    this.#debts.charge(cluster, units)
  }

  /** An invalid entry is logged and ignored. */
  #build({ cluster, name }: Item['meta'], { config, index }: Entry): Built {
    const { compiler, forbidden, addresses } = this.#options
    const { rules, errors } = checkRules(config, `spec.jwt[${index}]`, compiler, forbidden)
    if (errors.length > 0) {
      this.#warn(cluster, name, errors.slice(0, mostErrors).map(fieldErrorText))
      return {}
    }
    const inSeat = this.#inSeatFor(cluster, authoritiesOf(config))
    const own = { verdicts: this.#newVerdicts(), inSeat }
    return { issuer: jwtIssuer({ rules, addresses, kept: this.#kept, ...own }) }
  }

  /** `authorities`: characters of the certificates that a request reads. */
  #inSeatFor(workspace: string, authorities: number): InSeat {
    return async (user, work) => {
      this.#spend(workspace, costs.request + costs.trust * authorities)
      const seat = await enterReview(this.#seats, { user, workspace }, asksTooMany)
      try {
        return await work()
      } finally {
        seat.leave()
      }
    }
  }

  /** The results of the tokens of one issuer, in the shared cache. */
  #newVerdicts(): ReturnType<typeof jwtVerdicts> {
    const id = this.#count++
    return { of: (token, judge) => this.#verdicts.of(`${id} ${token}`, judge) }
  }

  #warn(cluster: string | undefined, name: string | undefined, errors: readonly string[]): void {
    this.#options.log.warn(
      { cluster, name, errors: errors.map(brief) },
      'invalid workspace authentication configuration',
    )
  }
}

const authoritiesOf = ({ issuer }: JwtConfig): number => issuer?.certificateAuthority?.length ?? 0

async function objectOf(item: Item, pace: Pace): Promise<Configuration> {
  if (item.bytes.length <= decodedAtOnce) return item.object
  return (await inTurns(decodeObjectSteps(item.bytes), pace)) as Configuration
}

function byUrl(configs: readonly JwtConfig[]): Entries {
  const found = new Map<string, Entry[]>()
  for (const [index, config] of configs.entries()) {
    const url = config.issuer?.url ?? ''
    const entries = found.get(url) ?? []
    found.set(url, [...entries, { config, index }])
  }
  return found
}
