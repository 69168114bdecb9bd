import type { IncomingHttpHeaders } from 'node:http'
import { promisify } from 'node:util'
import { constants, gzip } from 'node:zlib'
import { LRUCache } from 'lru-cache'
import { notAcceptable } from '../meta/errors.ts'
import type { Answer, VerbRequest } from '../request/response.ts'
import { protobufType } from '../wire/protobuf/fields.ts'

/** The kind into which a response is converted (rules.md 1.23). */
export interface Transform {
  readonly kind: 'Table' | 'PartialObjectMetadata' | 'PartialObjectMetadataList'
  readonly version: 'v1' | 'v1beta1'
}

/** The format of a response. */
export interface Negotiated {
  readonly format: 'json' | 'yaml' | 'protobuf'
  readonly pretty: boolean
  readonly transform?: Transform
}

/** `objects`: resources, with transforms. `watch`: the same as a stream. `documents`: discovery and errors, without transforms. */
export type Endpoint = 'objects' | 'watch' | 'documents'

/** The protobuf forms of an endpoint: whole objects, PartialObjectMetadata, or none. */
export type InProtobuf = 'objects' | 'metadata' | 'nothing'

/** The parts of a request that negotiation reads. */
export interface NegotiationRequest {
  readonly query: URLSearchParams
  readonly headers: IncomingHttpHeaders
}

/** One clause of an Accept header; parameter names in lower case. */
export interface AcceptClause {
  readonly type: string
  readonly parameters: Readonly<Record<string, string>>
}

const jsonType = 'application/json'
const yamlType = 'application/yaml'
const supported: Record<Endpoint, readonly string[]> = {
  objects: [jsonType, yamlType, protobufType],
  documents: [jsonType, yamlType, protobufType],
  watch: [`${jsonType};stream=watch`, `${protobufType};stream=watch`],
}

/** The clauses of an Accept header in the order of `q`, without those with `q=0` (rules.md 1.20). */
export function parseAccept(header = ''): readonly AcceptClause[] {
  const clauses = header
    .split(',')
    .map(parseClause)
    .filter(clause => clause.type !== '')
  if (clauses.length === 0) return [{ type: '*/*', parameters: {} }]
  const weight = ({ parameters }: AcceptClause): number => quality(parameters.q)
  return clauses.filter(clause => weight(clause) > 0).sort((a, b) => weight(b) - weight(a))
}

function parseClause(text: string): AcceptClause {
  const [type = '', ...parameters] = text.split(';').map(part => part.trim())
  const pairs = parameters.map((parameter): [string, string] => {
    const [name = '', value = ''] = parameter.split('=', 2).map(part => part.trim())
    return [name.toLowerCase(), value.replace(/^"(.*)"$/, '$1')]
  })
  return { type: type.toLowerCase(), parameters: Object.fromEntries(pairs) }
}

const quality = (q: string | undefined): number => {
  const value = q === undefined ? 1 : Number(q)
  return Number.isNaN(value) ? 1 : value
}

/** The format of a clause, on one line and indented. */
interface Choice {
  readonly plain: Negotiated
  readonly pretty: Negotiated
}

/** Clients send the same headers again and again. */
const known = new LRUCache<string, Choice>({ max: 500 })

/** Chooses the format of the first clause that the endpoint supports; throws 406 without one (rules.md 1.20 to 1.27). */
export function negotiate(
  request: NegotiationRequest,
  endpoint: Endpoint,
  inProtobuf: InProtobuf = 'nothing',
): Negotiated {
  const { accept = '' } = request.headers
  const key = `${endpoint} ${inProtobuf} ${accept}`
  let choice = known.get(key)
  if (choice === undefined) {
    choice = choose(accept, endpoint, inProtobuf)
    known.set(key, choice)
  }
  return wantsPretty(request) ? choice.pretty : choice.plain
}

function choose(accept: string, endpoint: Endpoint, inProtobuf: InProtobuf): Choice {
  for (const clause of parseAccept(accept)) {
    const format = formatOf(clause.type, endpoint)
    const target = format === undefined ? undefined : transformOf(clause, endpoint)
    if (format === undefined || target === undefined) continue
    if (format === 'protobuf' && !isInProtobuf(target, inProtobuf)) continue
    const common = target === 'none' ? { format } : { format, transform: target }
    const pretty = { ...common, pretty: true }
    return { pretty, plain: clause.parameters.pretty === '1' ? pretty : { ...common, pretty: false } }
  }
  throw notAcceptable(supported[endpoint])
}

/** The format of errors: as for documents, and indented JSON if no clause is supported (rules.md 1.27). */
export function negotiateError(request: NegotiationRequest): Negotiated {
  try {
    return negotiate(request, 'documents', 'objects')
  } catch {
    return { format: 'json', pretty: true }
  }
}

function formatOf(type: string, endpoint: Endpoint): Negotiated['format'] | undefined {
  if (type === jsonType || type === '*/*' || type === 'application/*' || type === '*') return 'json'
  if (type === protobufType) return 'protobuf'
  return type === yamlType && endpoint !== 'watch' ? 'yaml' : undefined
}

/** Tables have no protobuf form (rules.md 1.23). */
const isInProtobuf = (target: Transform | 'none', inProtobuf: InProtobuf): boolean =>
  target === 'none' ? inProtobuf === 'objects' : target.kind !== 'Table' && inProtobuf !== 'nothing'

/** undefined: the endpoint does not support the clause. */
function transformOf({ parameters }: AcceptClause, endpoint: Endpoint): Transform | 'none' | undefined {
  const { as: kind = '', g: group = '', v: version = '', stream = 'watch' } = parameters
  if (stream !== 'watch') return undefined
  if (kind === '' && group === '' && version === '') return 'none'
  if (endpoint === 'documents' || group !== 'meta.k8s.io') return undefined
  if (version !== 'v1' && version !== 'v1beta1') return undefined
  if (kind === 'Table' || kind === 'PartialObjectMetadata' || kind === 'PartialObjectMetadataList') {
    return { kind, version }
  }
  return undefined
}

const truths = new Set(['1', 't', 'T', 'true', 'TRUE', 'True'])
const terminals = /^(curl|Wget|Mozilla\/5\.0)/

/** Whether JSON is indented: by `?pretty`, else by the User-Agent (rules.md 1.30). */
function wantsPretty({ query, headers }: NegotiationRequest): boolean {
  const asked = query.get('pretty') ?? ''
  return asked === '' ? terminals.test(headers['user-agent'] ?? '') : truths.has(asked)
}

const contentTypes = {
  json: 'application/json',
  yaml: 'application/yaml',
  protobuf: protobufType,
} as const

/** The Content-Type of a response in the negotiated format. */
export const contentTypeOf = ({ format }: Negotiated): string => contentTypes[format]

const worthwhile = 128 * 1024
const zip = promisify(gzip)

// Documents with an ETag are the same Buffer for all clients.
const zipped = new WeakMap<Buffer, Promise<Buffer>>()

/** Compresses large bodies for clients that accept gzip (rules.md 1.43). Streams and watches are not compressed. */
export function compressed(
  answer: Answer,
  { headers }: Pick<VerbRequest, 'headers'>,
): Answer | Promise<Answer> {
  const { body } = answer
  if (!Buffer.isBuffer(body) || body.length <= worthwhile || !wantsGzip(headers['accept-encoding']))
    return answer
  return zippedAnswer(answer, body)
}

async function zippedAnswer(answer: Answer, body: Buffer): Promise<Answer> {
  const { Vary: vary, ...others } = answer.headers ?? {}
  const bytes = await (others.ETag === undefined ? zipBytes(body) : zipOnce(body))
  const varying = vary === undefined ? 'Accept-Encoding' : `${vary}, Accept-Encoding`
  return { ...answer, headers: { ...others, Vary: varying, 'Content-Encoding': 'gzip' }, body: bytes }
}

const wantsGzip = (header: string | string[] | undefined): boolean =>
  /(^|,)\s*gzip\s*(;\s*q=(1|0?\.\d*[1-9]\d*)[^,]*)?(,|$)/i.test(String(header ?? ''))

const zipBytes = (bytes: Buffer): Promise<Buffer> => zip(bytes, { level: constants.Z_BEST_SPEED })

function zipOnce(bytes: Buffer): Promise<Buffer> {
  const made = zipped.get(bytes) ?? zipBytes(bytes)
  zipped.set(bytes, made)
  return made
}
