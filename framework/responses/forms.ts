import type { Served } from '../contract/apis.ts'
import { type Item, lengthOf } from '../contract/item.ts'
import type { ListMeta } from '../contract/storage.ts'
import { StatusError } from '../meta/errors.ts'
import { apiVersionOf } from '../meta/object.ts'
import { encodeMessage, encodingSteps, enveloped } from '../wire/protobuf/encode.ts'
import { kindFields, type MessageFields, messageFields } from '../wire/protobuf/fields.ts'
import { lengthDelimited } from '../wire/protobuf/wire.ts'
import type { InProtobuf, Negotiated, Transform } from './negotiation.ts'
import { copyUntyped, partialBytes, untypedBytes } from './partial.ts'
import { columnDefinitions, includeObjectOf, rowBytes, type TableForm } from './table.ts'

const plain: ObjectForm = item => item.bytes
const isTable = (transform: Transform | undefined): transform is Transform & { readonly kind: 'Table' } =>
  transform?.kind === 'Table'

/** The 406 for PartialObjectMetadata of a list, and for PartialObjectMetadataList of an object (rules.md 1.25). */
const wrongForm = (requested: string, actual: string): StatusError =>
  new StatusError(406, 'NotAcceptable', `you requested ${requested}, but the requested object is ${actual}`)

/** How a list is written. Throws 400 and 406 for forms that lists do not have. */
export function listForm(
  served: Served,
  { format, transform }: Negotiated,
  query: URLSearchParams,
): ListForm {
  if (isTable(transform)) {
    const form = tableForm(served, transform, query)
    const type = `"kind":"Table","apiVersion":"meta.k8s.io/${transform.version}"`
    const now = new Date()
    return {
      head: `{${type},${columnDefinitions(form)},"rows":[`,
      element: item => rowBytes(item, form, now),
    }
  }
  if (transform?.kind === 'PartialObjectMetadata') {
    throw wrongForm(transform.kind, 'a list (*unstructured.UnstructuredList)')
  }
  if (format === 'protobuf') return protobufList(served, transform)
  if (transform !== undefined) {
    const { kind, version } = transform
    const head = `{"kind":"${kind}","apiVersion":"meta.k8s.io/${version}","items":[`
    return { head, element: item => partialBytes(item, version) }
  }
  return plainList(served)
}

const plainLists = new WeakMap<Served, ListForm>()

/** Whole objects in JSON, without kind and apiVersion for built-in kinds (rules.md 4.2); cached by endpoint. */
function plainList(served: Served): ListForm {
  const known = plainLists.get(served)
  if (known !== undefined) return known
  const { group, version, resource } = served
  const apiVersion = JSON.stringify(apiVersionOf(group, version))
  const head = `{"kind":${JSON.stringify(resource.names.listKind)},"apiVersion":${apiVersion},"items":[`
  const form =
    resource.custom || resource.itemsHaveKind ? { head } : { head, element: untypedBytes, copy: copyUntyped }
  plainLists.set(served, form)
  return form
}

/** How an object is written. Throws 400 and 406 for forms that objects do not have. */
export function objectForm(
  served: Served,
  { format, transform }: Negotiated,
  query: URLSearchParams,
): ObjectForm {
  if (transform === undefined) return format === 'protobuf' ? protobufObject(served, undefined) : plain
  if (isTable(transform)) {
    const form = tableForm(served, transform, query)
    return item => tableBytes(item, form, columnDefinitions(form))
  }
  if (transform.kind === 'PartialObjectMetadataList') {
    throw wrongForm(transform.kind, 'not a list (*unstructured.Unstructured)')
  }
  if (format === 'protobuf') return protobufObject(served, transform)
  return item => partialBytes(item, transform.version)
}

/**
 * How the objects of a watch are written; undefined: as stored. Only the first event of a Table has column definitions
 * (rules.md 4.61).
 */
export function eventForm(
  served: Served,
  negotiated: Negotiated,
  query: URLSearchParams,
): ObjectForm | undefined {
  const { format, transform } = negotiated
  if (transform === undefined && format !== 'protobuf') return undefined
  if (!isTable(transform)) return objectForm(served, negotiated, query)
  const form = tableForm(served, transform, query)
  let isFirst = true
  return item => {
    const bytes = tableBytes(item, form, isFirst ? columnDefinitions(form) : '"columnDefinitions":null')
    isFirst = false
    return bytes
  }
}

function tableForm({ resource }: Served, { version }: Transform, query: URLSearchParams): TableForm {
  return { version, columns: resource.columns, include: includeObjectOf(query) }
}

function tableBytes(item: Item, form: TableForm, columns: string): Buffer {
  const type = `"kind":"Table","apiVersion":"meta.k8s.io/${form.version}"`
  const { resourceVersion } = item.meta
  const isStored = resourceVersion !== '' && resourceVersion !== '0'
  const metadata = `"metadata":${JSON.stringify(isStored ? { resourceVersion } : {})}`
  const row = rowBytes(item, form, new Date())
  return Buffer.concat([Buffer.from(`{${type},${metadata},${columns},"rows":[`), row, Buffer.from(']}')])
}

const none: MessageFields = new Map()
const fieldsOf = ({ group, kind }: Served): MessageFields | undefined => kindFields(group, kind)
const partialFields = messageFields('PartialObjectMetadata') ?? none
const listMetaFields = messageFields('ListMeta') ?? none
const partial = 'PartialObjectMetadata'

/** The protobuf form of an endpoint: custom resources have metadata only, except for Scale (rules.md 1.23). */
export function inProtobuf(served: Served): InProtobuf {
  const isBuiltin = !served.resource.custom || served.subresource === 'scale'
  return isBuiltin && fieldsOf(served) !== undefined ? 'objects' : 'metadata'
}

/** How objects are written in protobuf, whole or as metadata only. */
function protobufObject(served: Served, transform: Transform | undefined): ObjectForm {
  const { group, version, kind } = served
  const fields = transform === undefined ? (fieldsOf(served) ?? none) : partialFields
  const type =
    transform === undefined
      ? { apiVersion: apiVersionOf(group, version), kind }
      : { apiVersion: `meta.k8s.io/${transform.version}`, kind: partial }
  const write = ({ object }: Item): Buffer => enveloped(type, encodeMessage(fields, object))
  return Object.assign(write, {
    *steps(item: Item): Generator<void, Buffer> {
      return enveloped(type, yield* messageSteps(fields, item))
    },
  })
}

/** Decoding takes about as long as encoding. */
function* messageSteps(fields: MessageFields, item: Item): Generator<void, Buffer> {
  const { object } = item
  yield
  return yield* encodingSteps(fields, object)
}

/** How lists are written in protobuf: as a whole, because a message begins with its length (rules.md 11.3). */
function protobufList(served: Served, transform: Transform | undefined): ListForm {
  const { group, version, resource } = served
  const fields = transform === undefined ? (fieldsOf(served) ?? none) : partialFields
  const type =
    transform === undefined
      ? { apiVersion: apiVersionOf(group, version), kind: resource.names.listKind }
      : { apiVersion: `meta.k8s.io/${transform.version}`, kind: `${partial}List` }
  const whole: WholeList = {
    *element(item) {
      const isSmall = lengthOf(item) < large
      const message = isSmall ? encodeMessage(fields, item.object) : yield* messageSteps(fields, item)
      return lengthDelimited(2, message)
    },
    encode(elements, meta) {
      const first = lengthDelimited(1, encodeMessage(listMetaFields, { ...meta }))
      return enveloped(type, Buffer.concat([first, ...elements]))
    },
  }
  return { head: '', whole }
}

/** How a list is written of which all elements have to be known first. */
export interface WholeList {
  /** In steps. */
  readonly element: (item: Item) => Generator<void, Buffer>
  readonly encode: (elements: readonly Buffer[], meta: ListMeta) => Buffer
}

/** How a list is written: `head`, elements with commas between them, `],"metadata":{…}}`. */
export interface ListForm {
  /** The text up to the opening bracket of the elements, inclusive. */
  readonly head: string
  /** Writes one element; absent: the bytes of the item. */
  readonly element?: (item: Item) => Buffer
  /** Writes one element to a buffer that has room for the item, like `element`, and returns the number of bytes. */
  readonly copy?: (item: Item, target: Buffer, start: number) => number
  /** For formats that begin with a length; `head` and `element` are then unused. */
  readonly whole?: WholeList
}

/** Writes one object, in a response or in an event. */
export interface ObjectForm {
  (item: Item): Buffer
  /** Writes it in steps; absent if it takes microseconds. */
  readonly steps?: (item: Item) => Generator<void, Buffer>
}

/** Bytes of objects that take a few milliseconds to convert. */
const large = 16 * 1024

/** Writes one object, in steps if it is large. */
export function* writeInSteps(form: ObjectForm, item: Item): Generator<void, Buffer> {
  return form.steps === undefined || lengthOf(item) < large ? form(item) : yield* form.steps(item)
}
