import type { OutgoingHttpHeaders } from 'node:http'
import { Agent } from 'undici'
import type { ClientSide, Passage } from '../framework/passage.ts'
import type { Exchange } from '../framework/serve.ts'
import type { UserInfo } from '../framework/user.ts'
import { forward } from './forward.ts'
import { assertsIdentity, type Fields, identityFields, passedOn, withoutTokenProtocol } from './headers.ts'
import { type Mapping, type MappingTls, readTls } from './mapping.ts'
import { checkPath } from './target.ts'
import { forwardUpgrade } from './upgrade.ts'

/** A request for one of the installation's own servers. */
export interface BackendRequest {
  readonly mapping: Mapping
  readonly exchange: Exchange
  /** undefined: the credentials go on as they came. */
  readonly user: UserInfo | undefined
  /** `https://host:port`, perhaps with a path. */
  readonly url: string
  /** As sent, percent-encoded, without the query. */
  readonly path: string
}

/** The servers behind the proxy: they believe it when it says who asks. */
export interface Backends {
  passage(request: BackendRequest): Passage
  /** Reads the mappings' certificates again; new connections use them. Rejects, and changes nothing, when one is bad. */
  reload(): Promise<void>
  tlsOf(mapping: Mapping): MappingTls
  close(): Promise<void>
}

interface Connections {
  readonly tls: MappingTls
  readonly agent: Agent
}

/** Connections of one mapping are used for nothing else: its certificate is an identity. Throws `MappingError`. */
export async function openBackends(mappings: readonly Mapping[]): Promise<Backends> {
  const open = async (): Promise<ReadonlyMap<Mapping, Connections>> =>
    new Map(
      await Promise.all(
        mappings.map(async mapping => [mapping, connections(await readTls(mapping))] as const),
      ),
    )
  let current = await open()
  const of = (mapping: Mapping): Connections => {
    const found = current.get(mapping)
    if (found === undefined) throw new TypeError(`there are no connections for ${mapping.path}`)
    return found
  }
  const closeAll = (all: ReadonlyMap<Mapping, Connections>): Promise<unknown> =>
    Promise.all([...all.values()].map(({ agent }) => agent.close()))
  return {
    passage: request => passage(request, of(request.mapping)),
    async reload() {
      const before = current
      current = await open()
      void closeAll(before)
    },
    tlsOf: mapping => of(mapping).tls,
    close: async () => void (await Promise.all([...current.values()].map(({ agent }) => agent.destroy()))),
  }
}

const connections = (tls: MappingTls): Connections => ({
  tls,
  agent: new Agent({ connect: { ...tls, timeout: 10_000 } }),
})

function passage(request: BackendRequest, { tls, agent }: Connections): Passage {
  const { origin, pathname } = new URL(request.url)
  const path = pathname.replace(/\/$/, '') + checkPath(request.path)
  const sent = { origin, target: path + request.exchange.incoming.search, answered }
  return {
    pass: client => {
      const headers = headersOf(request, client)
      return client.upgrade === undefined
        ? forward({ ...sent, headers, dispatcher: agent }, client)
        : forwardUpgrade({ ...sent, headers, connect: { ...tls } }, client)
    },
  }
}

const answered = (headers: Parameters<typeof passedOn>[0]): OutgoingHttpHeaders =>
  passedOn(headers, () => false) as OutgoingHttpHeaders

/** What the client says of itself is taken out before anything is said for it (chapter 30, section 1.3). */
function headersOf({ exchange, mapping, user }: BackendRequest, { request }: ClientSide): Fields {
  const { credentials, hops } = exchange.incoming
  const isAsserted = assertsIdentity(mapping.names)
  const kept = passedOn(
    credentials.headers,
    name =>
      isAsserted(name) || name === 'x-forwarded-host' || (user !== undefined && name === 'authorization'),
  )
  const sent = user === undefined ? kept : withoutTokenProtocol(kept)
  const address = request.socket?.remoteAddress
  const { host = request.headers[':authority'] } = credentials.headers
  const before = kept['x-forwarded-for']
  return {
    ...sent,
    ...(address && { 'x-forwarded-for': before === undefined ? address : `${before}, ${address}` }),
    ...(host && { 'x-forwarded-host': String(host) }),
    'x-forwarded-proto': 'https',
    ...(hops > 0 && { 'x-kcp-virtual-resource-hops': String(hops) }),
    ...(user === undefined ? {} : identityFields(user, mapping.names)),
  }
}
