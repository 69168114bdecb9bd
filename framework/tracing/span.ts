import { randomBytes } from 'node:crypto'

/** The trace and the span of the caller, of the header `traceparent` (W3C Trace Context 2.2.1). */
export interface TraceParent {
  /** 32 hexadecimal digits. */
  readonly traceId: string
  /** 16 hexadecimal digits. */
  readonly spanId: string
  readonly isSampled: boolean
}

/** A finished part of the work for a request. Times are milliseconds since 1970. */
export interface Span {
  readonly traceId: string
  readonly spanId: string
  /** '' for the first span of a trace. */
  readonly parentId: string
  readonly name: string
  readonly kind: 'internal' | 'server' | 'client'
  readonly start: number
  readonly end: number
  readonly attributes: Readonly<Record<string, string | number>>
  /** The message of the error with which it ended. */
  readonly failure?: string
}

/** Receives finished spans. */
export interface SpanSink {
  /** Never blocks: spans are dropped when there are too many. */
  add(spans: readonly Span[]): void
  /** Sends what is left, within two seconds. */
  close(): Promise<void>
}

const pattern = /^00-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})$/

/** Undefined for a header that is missing or invalid. */
export function parseTraceParent(header: string | undefined): TraceParent | undefined {
  const [, traceId, spanId, flags = '00'] = pattern.exec(header ?? '') ?? []
  if (traceId === undefined || spanId === undefined) return undefined
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & 1) === 1 }
}

export const formatTraceParent = ({ traceId, spanId, isSampled }: TraceParent): string =>
  `00-${traceId}-${spanId}-${isSampled ? '01' : '00'}`

export const newTraceId = (): string => randomBytes(16).toString('hex')
export const newSpanId = (): string => randomBytes(8).toString('hex')

/** Whether a trace is among those that are sampled; all processes decide equally by the identifier of the trace. */
export const isChosen = (traceId: string, perMillion: number): boolean =>
  Number.parseInt(traceId.slice(-13), 16) % 1_000_000 < perMillion
