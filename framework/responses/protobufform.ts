import type { Item } from '../contract/item.ts'
import type { Served } from '../contract/served.ts'
import type { ListMeta } from '../contract/storage.ts'
import { apiVersionOf } from '../meta/object.ts'
import { encodeMessage, enveloped } from '../wire/protobuf/encode.ts'
import { kindFields, type MessageFields, messageFields } from '../wire/protobuf/fields.ts'
import { lengthDelimited } from '../wire/protobuf/wire.ts'
import type { ListForm, ObjectForm } from './form.ts'
import type { InProtobuf, Transform } from './negotiation.ts'

const none: MessageFields = new Map()
const fieldsOf = ({ group, kind }: Served): MessageFields | undefined => kindFields(group, kind)
const partialFields = messageFields('PartialObjectMetadata') ?? none
const listMetaFields = messageFields('ListMeta') ?? none
const partial = 'PartialObjectMetadata'

/** Custom resources have no fields in protobuf; their metadata has, and a Scale is a Scale (chapter 40, rule 1.23). */
export function inProtobuf(served: Served): InProtobuf {
  const isBuiltin = !served.resource.custom || served.subresource === 'scale'
  return isBuiltin && fieldsOf(served) !== undefined ? 'objects' : 'metadata'
}

/** How objects are written in protobuf, whole or as metadata only. */
export function protobufObject(served: Served, transform: Transform | undefined): ObjectForm {
  const { group, version, kind } = served
  const fields = transform === undefined ? (fieldsOf(served) ?? none) : partialFields
  const type =
    transform === undefined
      ? { apiVersion: apiVersionOf(group, version), kind }
      : { apiVersion: `meta.k8s.io/${transform.version}`, kind: partial }
  return ({ object }) => enveloped(type, encodeMessage(fields, object))
}

/** How lists are written in protobuf: at once, because a message begins with its length (rule 11.3). */
export function protobufList(served: Served, transform: Transform | undefined): ListForm {
  const { group, version, resource } = served
  const fields = transform === undefined ? (fieldsOf(served) ?? none) : partialFields
  const type =
    transform === undefined
      ? { apiVersion: apiVersionOf(group, version), kind: resource.names.listKind }
      : { apiVersion: `meta.k8s.io/${transform.version}`, kind: `${partial}List` }
  const whole = (items: readonly Item[], meta: ListMeta): Buffer => {
    const head = lengthDelimited(1, encodeMessage(listMetaFields, { ...meta }))
    const messages = items.map(({ object }) => lengthDelimited(2, encodeMessage(fields, object)))
    return enveloped(type, Buffer.concat([head, ...messages]))
  }
  return { head: '', whole }
}
