import { promisify } from 'node:util'
import { constants, gzip } from 'node:zlib'
import type { Answer, VerbRequest } from '../request/response.ts'

const worthwhile = 128 * 1024
const zip = promisify(gzip)

// Documents with an ETag are the same Buffer for every client: compressed once.
const zipped = new WeakMap<Buffer, Promise<Buffer>>()

/** Large whole bodies compressed for clients that want it (chapter 40, rule 1.43). Streams and watches stay as they are. */
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
