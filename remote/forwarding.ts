import type { RawResponse } from '../framework/contract/backend.ts'
import type { RequestContext } from '../framework/contract/context.ts'
import { failureOf } from '../framework/net/failure.ts'
import { isSecret, passedOn } from '../framework/net/headers.ts'
import type { VerbRequest } from '../framework/request/response.ts'
import { bodyLimit } from '../framework/wire/parsebody.ts'
import type { ShardAnswer, ShardConnection, ShardRequest } from './connection/connection.ts'
import { identityFields } from './connection/identity.ts'

const dropped = new Set(['content-length', 'accept-encoding', 'audit-id'])

/** Forwards a request to its logical cluster, impersonating the user, and returns the response as a stream. */
export async function forward(
  connection: ShardConnection,
  ctx: RequestContext,
  request: VerbRequest,
): Promise<RawResponse> {
  const kept = passedOn(request.headers, name => isSecret(name) || dropped.has(name))
  const body = await request.body(bodyLimit)
  const {
    statusCode,
    headers,
    body: answer,
  } = await connection.send({
    method: request.method as ShardRequest['method'],
    target: forwardedTarget(ctx, request),
    headers: { ...kept, ...identityFields(ctx) },
    ...(body.length === 0 ? {} : { body }),
    signal: ctx.signal,
  })
  const passed = passedOn(headers, name => dropped.has(name)) as RawResponse['headers']
  return { status: statusCode, headers: passed, body: bodyOf(answer, ctx) }
}

/** A watch whose connection ends, ends normally; other incomplete responses abort the connection. */
async function* bodyOf(
  answer: ShardAnswer['body'],
  { info, signal }: RequestContext,
): AsyncGenerator<Buffer> {
  try {
    yield* answer as AsyncIterable<Buffer>
  } catch (error) {
    if (!signal.aborted || info.verb !== 'watch') throw failureOf(error)
  }
}

function forwardedTarget({ cluster, info }: RequestContext, { query }: VerbRequest): string {
  const path = info.path.split('/').map(encodeURIComponent).join('/')
  const search = query.size === 0 ? '' : `?${query}`
  return `/clusters/${encodeURIComponent(cluster)}${path}${search}`
}
