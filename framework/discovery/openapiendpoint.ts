import type { ApiSet } from '../contract/apis.ts'
import type { Document, OpenApiDocuments } from '../contract/documents.ts'
import { notAcceptable, notServed } from '../meta/errors.ts'
import type { Answer, VerbRequest } from '../request/response.ts'
import { parseAccept } from '../responses/negotiation.ts'

/** `/openapi/v2` and the paths below `/openapi/v3` (rules.md 8.16 to 8.22). */
export async function openApiAnswer(
  documents: OpenApiDocuments,
  apis: ApiSet,
  path: string,
  request: VerbRequest,
): Promise<Answer> {
  if (path !== '/openapi/v2' && path !== '/openapi/v3' && !path.startsWith('/openapi/v3/')) throw notServed()
  if (path === '/openapi/v2' && wantsProtobuf(request))
    return documentWithTag(await documents.v2Protobuf(apis), request, protobufType)
  requireJson(request)
  if (path === '/openapi/v2') return documentWithTag(await documents.v2(apis), request)
  if (path === '/openapi/v3') return index(await documents.index(apis))
  const name = path.slice('/openapi/v3/'.length)
  const etag = (await documents.index(apis)).get(name)
  if (etag === undefined) throw notServed()
  const hash = request.query.get('hash') ?? ''
  if (hash !== '' && hash !== etag) return redirect(etag)
  const document = await documents.v3(apis, name)
  if (document === undefined) throw notServed()
  const answer = documentWithTag(document, request)
  return hash === '' ? answer : { ...answer, headers: { ...answer.headers, ...immutable() } }
}

/** The media type in requests, and in responses (rules.md 8.16). */
const askedProtobuf = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf'
const protobufType = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf'

const wantsProtobuf = ({ headers }: VerbRequest): boolean =>
  parseAccept(headers.accept)[0]?.type === askedProtobuf

const jsonTypes = new Set(['application/json', 'application/*', '*/*', '*'])

function requireJson(request: VerbRequest): void {
  const accepted = parseAccept(request.headers.accept)
  if (!accepted.some(clause => jsonTypes.has(clause.type))) throw notAcceptable(['application/json'])
}

/** A document with its ETag; 304 if the client has it. `contentType`: if it is not JSON. */
export function documentWithTag(
  document: Document,
  { headers }: Pick<VerbRequest, 'headers'>,
  contentType = 'application/json',
): Answer {
  const etag = `"${document.etag}"`
  const tags = { ETag: etag, Vary: 'Accept', 'Cache-Control': 'public' }
  const has = headers['if-none-match']?.split(',').some(tag => tag.trim().replace(/^W\//, '') === etag)
  if (has) return { status: 304, contentType: '', headers: tags, body: Buffer.alloc(0) }
  return { status: 200, contentType, headers: tags, body: document.bytes }
}

/**
 * The paths start at `/openapi/v3`, without the prefix of the view: client-go adds its own host path
 * (`client-go/openapi`).
 */
function index(etags: ReadonlyMap<string, string>): Answer {
  const paths = [...etags].map(([path, etag]) => [
    path,
    { serverRelativeURL: `/openapi/v3/${path}?hash=${etag}` },
  ])
  return {
    status: 200,
    contentType: 'application/json',
    headers: { Vary: 'Accept' },
    body: Buffer.from(`${JSON.stringify({ paths: Object.fromEntries(paths) })}\n`),
  }
}

/** Relative to the request: a proxy may have added a prefix. */
const redirect = (etag: string): Answer => ({
  status: 301,
  contentType: '',
  headers: { Location: `?hash=${etag}` },
  body: Buffer.alloc(0),
})

const year = 365 * 24 * 3600 * 1000

const immutable = (): Record<string, string> => ({
  'Cache-Control': 'public, immutable',
  Expires: new Date(Date.now() + year).toUTCString(),
})
