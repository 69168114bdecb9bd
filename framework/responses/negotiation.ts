import type { IncomingHttpHeaders } from 'node:http'
import { LRUCache } from 'lru-cache'
import { notAcceptable } from '../meta/errors.ts'

/** What an answer is rewritten to before it is encoded (chapter 40, rule 1.23). */
export interface Transform {
  readonly kind: 'Table' | 'PartialObjectMetadata' | 'PartialObjectMetadataList'
  readonly version: 'v1' | 'v1beta1'
}

/** How to encode an answer. */
export interface Negotiated {
  readonly format: 'json' | 'yaml' | 'protobuf'
  readonly pretty: boolean
  readonly transform?: Transform
}

/** `objects`: transforms are allowed. `watch`: the same, as a stream. `documents`: discovery and errors, as they are. */
export type Endpoint = 'objects' | 'watch' | 'documents'

/** What protobuf is there for: `objects`: all of it; `metadata`: PartialObjectMetadata; `nothing`. */
export type InProtobuf = 'objects' | 'metadata' | 'nothing'

/** The parts of a request that negotiation reads. */
export interface Asker {
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
const protobufType = 'application/vnd.kubernetes.protobuf'
const supported: Record<Endpoint, readonly string[]> = {
  objects: [jsonType, yamlType, protobufType],
  documents: [jsonType, yamlType, protobufType],
  watch: [`${jsonType};stream=watch`, `${protobufType};stream=watch`],
}

/** The clauses of an Accept header, most wanted first; those with `q=0` are left out (chapter 40, rule 1.20). */
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

/** What a clause leads to, on one line and for people to read. */
interface Choice {
  readonly plain: Negotiated
  readonly pretty: Negotiated
}

/** Clients send few different headers, again and again. */
const known = new LRUCache<string, Choice>({ max: 500 })

/** Picks the first clause that this endpoint can answer; throws 406 when there is none (chapter 40, section 1.2). */
export function negotiate(asker: Asker, endpoint: Endpoint, inProtobuf: InProtobuf = 'nothing'): Negotiated {
  const { accept = '' } = asker.headers
  const key = `${endpoint} ${inProtobuf} ${accept}`
  let choice = known.get(key)
  if (choice === undefined) {
    choice = choose(accept, endpoint, inProtobuf)
    known.set(key, choice)
  }
  return wantsPretty(asker) ? choice.pretty : choice.plain
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

/** For errors: like `documents`, and indented JSON when nothing else is acceptable (chapter 40, rule 1.27). */
export function negotiateError(asker: Asker): Negotiated {
  try {
    return negotiate(asker, 'documents', 'objects')
  } catch {
    return { format: 'json', pretty: true }
  }
}

function formatOf(type: string, endpoint: Endpoint): Negotiated['format'] | undefined {
  if (type === jsonType || type === '*/*' || type === 'application/*' || type === '*') return 'json'
  if (type === protobufType) return 'protobuf'
  return type === yamlType && endpoint !== 'watch' ? 'yaml' : undefined
}

/** Tables never are (chapter 40, rule 1.23). */
const isInProtobuf = (target: Transform | 'none', inProtobuf: InProtobuf): boolean =>
  target === 'none' ? inProtobuf === 'objects' : target.kind !== 'Table' && inProtobuf !== 'nothing'

/** undefined: this clause asks for something that the endpoint does not have. */
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

/** `?pretty` decides, else whether a person seems to read (chapter 40, rule 1.30). */
function wantsPretty({ query, headers }: Asker): boolean {
  const asked = query.get('pretty') ?? ''
  return asked === '' ? terminals.test(headers['user-agent'] ?? '') : truths.has(asked)
}

const contentTypes = {
  json: 'application/json',
  yaml: 'application/yaml',
  protobuf: 'application/vnd.kubernetes.protobuf',
} as const

/** The Content-Type of an answer in the negotiated format. */
export const contentTypeOf = ({ format }: Negotiated): string => contentTypes[format]
