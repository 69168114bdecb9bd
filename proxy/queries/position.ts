import { cutOf, memberOf, withoutCuts } from '../../framework/json/members.ts'
import { badGateway } from '../../framework/net/failure.ts'
import { type OrderPosition, positionAnnotation } from '../../framework/selectors/order.ts'

/** An element of an ordered list. */
export interface OrderedElement {
  readonly position: OrderPosition
  /** Without the annotation that has the position. */
  readonly bytes: Buffer
}

const keys = {
  object: Buffer.from('"object"'),
  metadata: Buffer.from('"metadata"'),
  annotations: Buffer.from('"annotations"'),
  position: Buffer.from(JSON.stringify(positionAnnotation)),
}

/** Takes the position out of an object, or of a row of a Table. Throws 502 where there is none. */
export function orderedElement(element: Buffer, { isTable }: { readonly isTable: boolean }): OrderedElement {
  const row = isTable ? memberOf(element, 0, keys.object) : undefined
  const metadata = memberOf(element, row?.value ?? 0, keys.metadata)
  const annotations = metadata && memberOf(element, metadata.value, keys.annotations)
  const span = annotations && memberOf(element, annotations.value, keys.position)
  if (span === undefined) throw badGateway('an object of its response has no position')
  const text = JSON.parse(element.toString('utf8', span.value, span.to)) as string
  return {
    position: JSON.parse(text) as OrderPosition,
    bytes: withoutCuts(element, [cutOf(element, span)]),
  }
}

/** A row without its object. */
export function withoutObject(row: Buffer): Buffer {
  const span = memberOf(row, 0, keys.object)
  if (span === undefined) return row
  return Buffer.concat([row.subarray(0, span.value), Buffer.from('null'), row.subarray(span.to)])
}
