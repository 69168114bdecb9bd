import { messages } from './kinds.ts'

const fieldPattern = /^(\d+) ([\w$-]+)([*!^]?)(?::(\{?)(\w+)\}?(\[\])?)?$/

/** One field of a message. */
export interface MessageField {
  /** The name in JSON. */
  readonly name: string
  /** The name of a message or of a type with its own encoding. */
  readonly type: string
  readonly shape: 'one' | 'list' | 'map'
  /**
   * `*`: a pointer, zero is written; `!`: a boolean that JSON always has; `^`: a message whose fields JSON has inline.
   */
  readonly mark: string
}

/** Fields by number, in this order. */
export type MessageFields = ReadonlyMap<number, MessageField>

const known = new Map<string, MessageFields>()

/** The fields of a message; undefined for an unknown one. */
export function messageFields(name: string): MessageFields | undefined {
  const text = Object.hasOwn(messages, name) ? messages[name] : undefined
  if (text === undefined) return undefined
  const fields = known.get(name) ?? fieldsOf(text)
  known.set(name, fields)
  return fields
}

/** The fields of a kind. Kinds of different groups with one name have the group in front. */
export const kindFields = (group: string, kind: string): MessageFields | undefined =>
  messageFields(`${group}/${kind}`) ?? messageFields(kind)

/** The fields of a kind, or of the list of a kind. */
export const answerFields = (group: string, kind: string): MessageFields | undefined =>
  kindFields(group, kind) ?? (kind.endsWith('List') ? listFields(group, kind.slice(0, -4)) : undefined)

function listFields(group: string, kind: string): MessageFields | undefined {
  const type = [`${group}/${kind}`, kind].find(name => Object.hasOwn(messages, name))
  if (type === undefined) return undefined
  return new Map([
    [1, { name: 'metadata', type: 'ListMeta', shape: 'one', mark: '' }],
    [2, { name: 'items', type, shape: 'list', mark: '' }],
  ])
}

/** Parses `1 name, 2 items:Item[], …`. */
export function fieldsOf(text: string): MessageFields {
  const fields = new Map(text === '' ? [] : text.split(', ').map(fieldOf))
  return new Map([...fields].sort(([one], [other]) => one - other))
}

function fieldOf(text: string): [number, MessageField] {
  const [, number, name = '', mark = '', map, type = 'text', list] = fieldPattern.exec(text) ?? []
  const shape = map ? 'map' : list ? 'list' : 'one'
  return [Number(number), { name, type, shape, mark }]
}

/** The media type. */
export const protobufType = 'application/vnd.kubernetes.protobuf'

/** The prefix of all Kubernetes protobuf messages. */
export const magic = Buffer.from('k8s\0')
export const envelope = fieldsOf('1 type:TypeMeta, 2 raw:raw, 3 contentEncoding, 4 contentType')
export const typeMeta = fieldsOf('1 apiVersion, 2 kind')
