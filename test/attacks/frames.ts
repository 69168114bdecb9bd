import { once } from 'node:events'
import { connect, type TLSSocket } from 'node:tls'
import type { Attacker } from './stalling.ts'

/** Types and flags of HTTP/2 frames (RFC 9113, section 6). */
export const frames = { data: 0, headers: 1, reset: 3, settings: 4, ping: 6, update: 8, continuation: 9 }
export const endHeaders = 4
export const endStream = 1

export const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')

export interface Frame {
  readonly type: number
  readonly flags?: number
  readonly stream?: number
  readonly payload?: Buffer
}

export function encodeFrame({ type, flags = 0, stream = 0, payload = Buffer.alloc(0) }: Frame): Buffer {
  const head = Buffer.alloc(9)
  head.writeUIntBE(payload.length, 0, 3)
  head.writeUInt8(type, 3)
  head.writeUInt8(flags, 4)
  head.writeUInt32BE(stream, 5)
  return Buffer.concat([head, payload])
}

/** An integer of HPACK behind the first bits of a byte (RFC 7541, section 5.1). */
function encodeInteger(value: number, bits: number, first: number): Buffer {
  const most = 2 ** bits - 1
  if (value < most) return Buffer.from([first | value])
  const bytes = [first | most]
  let rest = value - most
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 128)
  return Buffer.from([...bytes, rest])
}

const encodeText = (text: string): Buffer =>
  Buffer.concat([encodeInteger(text.length, 7, 0), Buffer.from(text, 'latin1')])

/** A header that the server adds to its table if `isKept`. */
export const encodeHeader = (name: string, value: string, isKept = false): Buffer =>
  Buffer.concat([Buffer.from([isKept ? 0x40 : 0]), encodeText(name), encodeText(value)])

/** The header that was added to the table last. */
export const lastHeader = encodeInteger(62, 7, 0x80)

export const requestHeaders = ({ url, token }: Attacker, method: string, path: string): Buffer =>
  Buffer.concat([
    encodeHeader(':method', method),
    encodeHeader(':path', path),
    encodeHeader(':scheme', 'https'),
    encodeHeader(':authority', new URL(url).host),
    encodeHeader('authorization', `Bearer ${token}`),
  ])

/** A connection that can send any bytes after the preface and empty settings. */
export async function openRaw({ url, ca }: Attacker): Promise<TLSSocket> {
  const { hostname, port } = new URL(url)
  const socket = connect({ host: hostname, port: Number(port), ca, servername: '', ALPNProtocols: ['h2'] })
  socket.on('error', () => undefined)
  await once(socket, 'secureConnect')
  socket.write(Buffer.concat([preface, encodeFrame({ type: frames.settings })]))
  return socket
}
