import { formatJson, type Steps } from '../json/json.ts'
import { JsonPieces } from '../wire/jsonpieces.ts'
import type { BodyCopy } from './bodies.ts'
import type { AuditEvent } from './event.ts'
import { withoutManagedFields } from './objects.ts'

/** An event before it is encoded; its objects are apart from it. */
export interface Unencoded {
  /** Whose share of the memory it takes. */
  readonly user: string
  readonly event: AuditEvent
  readonly requestObject?: unknown
  readonly omitManagedFields: boolean
  readonly response?: BodyCopy
  /** Objects were left out. */
  readonly isCut?: boolean
}

/** JSON on one line, without its end. Large bodies are not copied into one piece. */
export class JsonLine {
  readonly pieces: readonly Buffer[]
  readonly length: number

  constructor(pieces: readonly Buffer[]) {
    this.pieces = pieces
    this.length = pieces.reduce((sum, { length }) => sum + length, 0)
  }
}

/** An encoded event. */
export class AuditRecord {
  readonly user: string
  readonly json: JsonLine
  /** The event with no objects, which may have had some. */
  readonly #withoutObjects: AuditEvent | undefined

  constructor(user: string, json: readonly Buffer[], withoutObjects?: AuditEvent) {
    this.user = user
    this.json = new JsonLine(json)
    this.#withoutObjects = withoutObjects
  }

  get hasObjects(): boolean {
    return this.#withoutObjects !== undefined
  }

  /** Without the objects and with an annotation that says so, as in Kubernetes; undefined if it has no objects. */
  truncated(): AuditRecord | undefined {
    return this.#withoutObjects && new AuditRecord(this.user, [encoded(truncated(this.#withoutObjects))])
  }
}

const encoded = (value: object): Buffer => Buffer.from(formatJson(value))

/** The annotation is that of Kubernetes (`apiserver/plugin/pkg/audit/truncate`). */
const truncated = (event: AuditEvent): AuditEvent => ({
  ...event,
  annotations: { ...event.annotations, 'audit.k8s.io/truncated': 'true' },
})

/** Encodes an event in steps. */
export function* recordSteps(unencoded: Unencoded): Steps<AuditRecord> {
  const { event, requestObject, omitManagedFields, response } = unencoded
  const objects: Buffer[] = []
  if (requestObject !== undefined) {
    const pieces = new JsonPieces()
    yield* pieces.value(omitManagedFields ? yield* withoutManagedFields(requestObject) : requestObject)
    for (const piece of [requestKey, ...pieces.pieces()]) objects.push(piece)
  }
  const answered = response === undefined ? [] : yield* response.json()
  if (answered.length > 0) for (const piece of [responseKey, ...answered]) objects.push(piece)
  const isCut = unencoded.isCut || response?.isCut
  return recordOf(unencoded.user, isCut ? truncated(event) : event, objects)
}

const requestKey = Buffer.from(',"requestObject":')
const responseKey = Buffer.from(',"responseObject":')

/** The members have the order of Kubernetes: the objects come before the timestamps. */
function recordOf(user: string, event: AuditEvent, objects: readonly Buffer[]): AuditRecord {
  if (objects.length === 0) return new AuditRecord(user, [encoded(event)])
  const { requestReceivedTimestamp, stageTimestamp, annotations, ...before } = event
  const first = Buffer.from(formatJson(before).slice(0, -1))
  const last = Buffer.from(
    `,${formatJson({ requestReceivedTimestamp, stageTimestamp, annotations }).slice(1)}`,
  )
  return new AuditRecord(user, [first, ...objects, last], event)
}
