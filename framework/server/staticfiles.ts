import { createHash } from 'node:crypto'
import type { Answer } from '../request/response.ts'
import type { Handler } from './serve.ts'

/** A file of a page in the browser, such as the console. It is served to everybody: it has no data. */
export interface StaticFile {
  readonly contentType: string
  readonly body: Buffer
}

/** By path: `/console/console.js`. */
export type StaticFiles = ReadonlyMap<string, StaticFile>

/**
 * The page loads scripts, styles and data from this server only, has no inline scripts, makes no markup of texts, and
 * is in no frame. No page that opened it, and none that it opens, reaches its window.
 */
const protection = {
  'Content-Security-Policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; '),
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
}

/** The handlers of the files, by path. Browsers ask each time, and get 304 while a file is unchanged. */
export const staticHandlers = (files: StaticFiles): ReadonlyMap<string, Handler> =>
  new Map([...files].map(([path, file]) => [path, handlerOf(file)]))

function handlerOf({ contentType, body }: StaticFile): Handler {
  const tag = `"${createHash('sha256').update(body).digest('base64url')}"`
  const headers = { ...protection, ETag: tag }
  const whole: Answer = { status: 200, contentType, headers, body }
  const unchanged: Answer = { status: 304, contentType: '', headers, body: Buffer.alloc(0) }
  return ({ incoming }) => (incoming.headers['if-none-match'] === tag ? unchanged : whole)
}
