import type { Answer } from '../request/response.ts'

/** A response in plain text, with the header against content sniffing. */
export const text = (status: number, body: string): Answer => ({
  status,
  contentType: 'text/plain; charset=utf-8',
  headers: { 'X-Content-Type-Options': 'nosniff' },
  body: Buffer.from(body),
})
