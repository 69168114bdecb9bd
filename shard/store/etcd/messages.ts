import { lengthDelimited, varintField, wireFields } from '../../../framework/wire/protobuf/wire.ts'

// The messages of etcd's API that the store uses, with the field numbers of `api/etcdserverpb/rpc.proto` and
// `api/mvccpb/kv.proto` (etcd 3.4 to 3.6). Unknown fields of responses are ignored.

/** `mvccpb.KeyValue` */
export interface KeyValue {
  readonly key: Buffer
  readonly value: Buffer
  /** `create_revision` */
  readonly created: number
  /** `mod_revision` */
  readonly modified: number
}

/** `ResponseHeader`. The ids are decimal: they have 64 bits. */
export interface ResponseHeader {
  readonly cluster: string
  readonly revision: number
  readonly term: number
}

/** `RangeRequest`; a single key without `end`. `revision` 0: the newest. */
export interface RangeRequest {
  readonly key: Buffer
  readonly end?: Buffer
  readonly limit?: number
  readonly revision?: number
  readonly keysOnly?: boolean
}

export interface RangeResponse {
  readonly header: ResponseHeader
  readonly values: readonly KeyValue[]
  readonly more: boolean
}

/** `Compare` for equality; `revision` is the `mod_revision`, 0 when the key must not exist. */
export interface RevisionCompare {
  readonly key: Buffer
  readonly revision: number
}

/** `RequestOp`: exactly one member is present. */
export interface RequestOp {
  readonly put?: { readonly key: Buffer; readonly value: Buffer }
  readonly remove?: Buffer
  readonly range?: RangeRequest
  readonly txn?: TxnRequest
}

/** `Compare` for equality of the value of a key. */
export interface ValueCompare {
  readonly key: Buffer
  readonly value: Buffer
}

export interface TxnRequest {
  readonly compare: readonly (RevisionCompare | ValueCompare)[]
  readonly success: readonly RequestOp[]
  readonly failure: readonly RequestOp[]
}

/** `responses` has those of ranges only. */
export interface TxnResponse {
  readonly header: ResponseHeader
  readonly succeeded: boolean
  readonly ranges: readonly RangeResponse[]
}

/** `WatchCreateRequest`, with previous values. */
export interface WatchRequest {
  readonly key: Buffer
  readonly end: Buffer
  readonly start: number
}

/** `mvccpb.Event`: `isDeletion` when `type` is DELETE. */
export interface EtcdEvent {
  readonly isDeletion: boolean
  readonly value: KeyValue
  readonly previous?: KeyValue
}

export interface WatchResponse {
  readonly header: ResponseHeader
  readonly created: boolean
  readonly canceled: boolean
  /** The revision up to which etcd has compacted, when the watch was canceled for that reason; otherwise 0. */
  readonly compacted: number
  readonly reason: string
  readonly events: readonly EtcdEvent[]
}

const number = (field: number, value: number | undefined): readonly Buffer[] =>
  value === undefined || value === 0 ? [] : [varintField(field, BigInt(value))]
const flag = (field: number, value: boolean | undefined): readonly Buffer[] => number(field, value ? 1 : 0)
const bytes = (field: number, value: Buffer | undefined): readonly Buffer[] =>
  value === undefined ? [] : [lengthDelimited(field, value)]

export const encodeRange = ({ key, end, limit, revision, keysOnly }: RangeRequest): Buffer =>
  Buffer.concat([
    ...bytes(1, key),
    ...bytes(2, end),
    ...number(3, limit),
    ...number(4, revision),
    ...flag(8, keysOnly),
  ])

const equal = 0
const modRevision = 2
const ofValue = 3

const encodeCompare = (compare: RevisionCompare | ValueCompare): Buffer => {
  const isOfValue = 'value' in compare
  return Buffer.concat([
    varintField(1, BigInt(equal)),
    varintField(2, BigInt(isOfValue ? ofValue : modRevision)),
    ...bytes(3, compare.key),
    isOfValue ? lengthDelimited(7, compare.value) : varintField(6, BigInt(compare.revision)),
  ])
}

function encodeOp({ put, remove, range, txn }: RequestOp): Buffer {
  if (put !== undefined)
    return lengthDelimited(2, Buffer.concat([...bytes(1, put.key), ...bytes(2, put.value)]))
  if (remove !== undefined) return lengthDelimited(3, lengthDelimited(1, remove))
  if (range !== undefined) return lengthDelimited(1, encodeRange(range))
  return lengthDelimited(4, encodeTxn(txn ?? { compare: [], success: [], failure: [] }))
}

export const encodeTxn = ({ compare, success, failure }: TxnRequest): Buffer =>
  Buffer.concat([
    ...compare.map(each => lengthDelimited(1, encodeCompare(each))),
    ...success.map(each => lengthDelimited(2, encodeOp(each))),
    ...failure.map(each => lengthDelimited(3, encodeOp(each))),
  ])

/** `CompactionRequest` */
export const encodeCompaction = (revision: number): Buffer => Buffer.concat(number(1, revision))

/** `AuthenticateRequest` */
export const encodeAuthenticate = (user: { readonly name: string; readonly password: string }): Buffer =>
  Buffer.concat([...bytes(1, Buffer.from(user.name)), ...bytes(2, Buffer.from(user.password))])

/** `WatchRequest` with a `create_request`. */
export const encodeWatch = ({ key, end, start }: WatchRequest): Buffer =>
  lengthDelimited(
    1,
    Buffer.concat([...bytes(1, key), ...bytes(2, end), ...number(3, start), ...flag(6, true)]),
  )

const empty = Buffer.alloc(0)

/** The fields of a message by number; the last one of several, and all of them in `lists`. */
class Fields {
  readonly #lists = new Map<number, (bigint | Buffer)[]>()

  constructor(message: Buffer) {
    for (const { number: field, value } of wireFields(message)) {
      const list = this.#lists.get(field)
      if (list === undefined) this.#lists.set(field, [value])
      else list.push(value)
    }
  }

  bytes(field: number): Buffer {
    const value = this.#lists.get(field)?.at(-1)
    return value instanceof Buffer ? value : empty
  }

  integer(field: number): bigint {
    const value = this.#lists.get(field)?.at(-1)
    return typeof value === 'bigint' ? value : 0n
  }

  number(field: number): number {
    return Number(this.integer(field))
  }

  has(field: number): boolean {
    return this.#lists.has(field)
  }

  messages(field: number): readonly Buffer[] {
    return (this.#lists.get(field) ?? []).filter((value): value is Buffer => value instanceof Buffer)
  }
}

function decodeHeader(message: Buffer): ResponseHeader {
  const fields = new Fields(message)
  return { cluster: String(fields.integer(1)), revision: fields.number(3), term: fields.number(4) }
}

function decodeKeyValue(message: Buffer): KeyValue {
  const fields = new Fields(message)
  return {
    key: fields.bytes(1),
    value: fields.bytes(5),
    created: fields.number(2),
    modified: fields.number(3),
  }
}

export function decodeRange(message: Buffer): RangeResponse {
  const fields = new Fields(message)
  return {
    header: decodeHeader(fields.bytes(1)),
    values: fields.messages(2).map(decodeKeyValue),
    more: fields.number(3) === 1,
  }
}

export function decodeTxn(message: Buffer): TxnResponse {
  const fields = new Fields(message)
  const responses = fields.messages(3).map(response => new Fields(response))
  return {
    header: decodeHeader(fields.bytes(1)),
    succeeded: fields.number(2) === 1,
    ranges: responses.filter(response => response.has(1)).map(response => decodeRange(response.bytes(1))),
  }
}

/** `AuthenticateResponse`: the token. */
export const decodeAuthenticate = (message: Buffer): string => new Fields(message).bytes(2).toString()

/** Responses of which only success matters. */
export const decodeNothing = (): void => undefined

function decodeEvent(message: Buffer): EtcdEvent {
  const fields = new Fields(message)
  return {
    isDeletion: fields.number(1) === 1,
    value: decodeKeyValue(fields.bytes(2)),
    ...(fields.has(3) && { previous: decodeKeyValue(fields.bytes(3)) }),
  }
}

export function decodeWatch(message: Buffer): WatchResponse {
  const fields = new Fields(message)
  return {
    header: decodeHeader(fields.bytes(1)),
    created: fields.number(3) === 1,
    canceled: fields.number(4) === 1,
    compacted: fields.number(5),
    reason: fields.bytes(6).toString(),
    events: fields.messages(11).map(decodeEvent),
  }
}
