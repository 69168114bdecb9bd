import type { KubeObject } from '../../../framework/index.ts'
import type { Client } from '../../support/client.ts'
import { Follower, seenIn } from './follower.ts'
import { isServed, type Kind, kindsOf, type Provider, type World } from './world.ts'

interface Slice extends KubeObject {
  readonly status?: { readonly endpoints?: readonly { readonly url: string }[] }
}

const apiOf = ({ group }: Kind): string => (group === '' ? '/api/v1' : `/apis/${group}/v1`)

export interface StreamsOptions {
  readonly world: World
  readonly provider: Provider
  /** Through the front proxy. */
  readonly client: Client
  /** Directly to the shard with a URL. */
  readonly clientAt: (url: string) => Client
}

/** The streams of the controller of an export: every resource at every URL that its endpoint slice lists. */
export class Streams {
  readonly #options: StreamsOptions
  #slices: Follower | undefined
  #urls: readonly string[] = []
  readonly #open = new Map<string, Follower>()
  readonly #past: string[] = []

  constructor(options: StreamsOptions) {
    this.#options = options
  }

  /** Follows what has begun to be served: slices, URLs and claimed resources. */
  follow(): void {
    if (this.#slices?.isOver !== false) this.#slices = this.#followSlices()
    const { world, provider } = this.#options
    const paths = kindsOf(world, provider).flatMap(kind => this.#pathsOf(kind))
    for (const [path, follower] of this.#open)
      if (follower.isOver || !paths.includes(path)) this.#leave(path, follower)
    for (const kind of kindsOf(world, provider))
      if (isServed(world, provider, kind))
        for (const path of this.#pathsOf(kind))
          if (!this.#open.has(path)) this.#open.set(path, this.#followPath(path, kind))
  }

  stop(): void {
    this.#slices?.stop()
    for (const [path, follower] of this.#open) this.#leave(path, follower)
  }

  /** What no client must see. */
  get problems(): readonly string[] {
    const now = [...this.#open].flatMap(([path, { problems }]) => problems.map(each => `${path}: ${each}`))
    return [...this.#past, ...now]
  }

  /** What the streams of a resource show together; an object that two of them show is in the list twice. */
  shown(kind: Kind): readonly string[] {
    return this.#pathsOf(kind).flatMap(path =>
      [...(this.#open.get(path)?.shown.values() ?? [])].flatMap(textOf),
    )
  }

  /** The URLs that the slice lists. */
  get urls(): readonly string[] {
    return this.#urls
  }

  /** The same by new lists. */
  async listed(kind: Kind): Promise<readonly string[]> {
    const asked = this.#pathsOf(kind).map(path => this.#options.clientAt(path)(new URL(path).pathname))
    const replies = await Promise.all(asked)
    return replies
      .flatMap(reply => (reply.status === 200 ? (reply.json().items ?? []) : []))
      .map(seenIn)
      .flatMap(textOf)
  }

  #leave(path: string, follower: Follower): void {
    follower.stop()
    this.#past.push(...follower.problems.map(problem => `${path}: ${problem}`))
    this.#open.delete(path)
  }

  #followSlices(): Follower {
    const { client, provider } = this.#options
    const path = `/clusters/${provider.cluster}/apis/apis.kcp.io/v1alpha1/apiexportendpointslices`
    const changed = (): void => {
      const slice = [...follower.shown.values()].find(({ object }) => object.metadata.name === provider.group)
      if (slice === undefined) return
      const { status } = slice.object as Slice
      this.#urls = status?.endpoints?.map(({ url }) => url) ?? []
      this.follow()
    }
    const follower = new Follower({ client, path, changed, resumes: false, isServed: () => false })
    return follower
  }

  #followPath(url: string, kind: Kind): Follower {
    const { clientAt, world, provider } = this.#options
    const now = (): boolean =>
      !world.isDown && isServed(world, provider, kind, provider.settled) && this.#pathsOf(kind).includes(url)
    return new Follower({ client: clientAt(url), path: new URL(url).pathname, resumes: true, isServed: now })
  }

  #pathsOf(kind: Kind): readonly string[] {
    return this.#urls.map(url => `${url}/clusters/*${apiOf(kind)}/${kind.resource}`)
  }
}

/** Objects that the server has made are not of the model. */
const textOf = ({ id, value }: ReturnType<typeof seenIn>): readonly string[] =>
  value === 0 ? [] : [`${id}=${value}`]
