import type { ItemEvent } from '../contract/item.ts'
import type { Status } from '../meta/errors.ts'
import { encodeMessage, enveloped } from '../wire/protobuf/encode.ts'
import { messageFields } from '../wire/protobuf/fields.ts'
import { lengthDelimited } from '../wire/protobuf/wire.ts'
import type { ObjectForm } from './forms.ts'

/** How the events of a watch follow each other on the wire. */
export interface Framing {
  readonly contentType: string
  /** One event, in pieces. */
  event(event: ItemEvent, form: ObjectForm): readonly Buffer[]
  error(status: Status): Buffer
}

const opening = (type: string): Buffer => Buffer.from(`{"type":"${type}","object":`)
const openings: Readonly<Record<ItemEvent['type'], Buffer>> = {
  ADDED: opening('ADDED'),
  MODIFIED: opening('MODIFIED'),
  DELETED: opening('DELETED'),
  BOOKMARK: opening('BOOKMARK'),
}
const closing = Buffer.from('}\n')

/** `{"type":…,"object":…}` lines. */
export const jsonFrames: Framing = {
  contentType: 'application/json',
  event: ({ type, item }, form) => [openings[type], form(item), closing],
  error: status => Buffer.from(`{"type":"ERROR","object":${JSON.stringify(status)}}\n`),
}

/** Messages, each behind its length in four bytes (chapter 40, rule 11.5). */
export const protobufFrames: Framing = {
  contentType: 'application/vnd.kubernetes.protobuf;stream=watch',
  event: ({ type, item }, form) => frame(type, form(item)),
  error: status => Buffer.concat(frame('ERROR', encodedStatus(status))),
}

const encodedStatus = (status: Status): Buffer =>
  enveloped(status, encodeMessage(messageFields('Status') ?? new Map(), { ...status }))

function frame(type: string, object: Buffer): readonly Buffer[] {
  const message = [lengthDelimited(1, Buffer.from(type)), lengthDelimited(2, lengthDelimited(1, object))]
  const length = Buffer.alloc(4)
  length.writeUInt32BE(message.reduce((sum, part) => sum + part.length, 0))
  return [length, ...message]
}
