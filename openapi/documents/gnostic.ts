import { atOnce, formatJson, type Steps, Work } from '../../framework/json/json.ts'

// Swagger 2.0 documents in protobuf, as `openapi.v2.Document` of gnostic, the only format that some clients accept
// (rules.md 8.17). Tables map members to fields; other members are left out.

/** Encodes the content of a field, without its tag. */
interface Type {
  readonly wire: 0 | 1 | 2
  write(value: unknown, work: Work): Steps<Buffer>
}

const plain = (wire: Type['wire'], write: (value: unknown) => Buffer): Type => ({
  wire,
  *write(value, work) {
    if (work.isStepDone()) yield
    return write(value)
  },
})

/** Members by name: the field's number, its type, and whether it repeats. */
type Fields = Readonly<Record<string, readonly [number: number, type: Type, repeated?: 'repeated']>>

type Members = Readonly<Record<string, unknown>>

function varint(value: number): Buffer {
  const bytes: number[] = []
  let rest = value
  for (; rest > 0x7f; rest = Math.floor(rest / 0x80)) bytes.push((rest % 0x80) | 0x80)
  return Buffer.from([...bytes, rest])
}

function* field(number: number, type: Type, value: unknown, work: Work): Steps<readonly Buffer[]> {
  const content = yield* type.write(value, work)
  const tag = varint(number * 8 + type.wire)
  return type.wire === 2 ? [tag, varint(content.length), content] : [tag, content]
}

const string = plain(2, value => Buffer.from(String(value)))
const boolean = plain(0, value => varint(value === true ? 1 : 0))
/** For lengths, which are small and not negative. */
const int64 = plain(0, value => varint(Math.max(0, Number(value))))
const double = plain(1, value => {
  const bytes = Buffer.alloc(8)
  bytes.writeDoubleLE(Number(value))
  return bytes
})

/** `fields` is a function because tables refer to each other. */
const message = (fields: () => Fields, prepare: (value: unknown) => Members = asMembers): Type => ({
  wire: 2,
  write: (value, work) => encodeFields(fields(), prepare(value), work),
})

const asMembers = (value: unknown): Members => value as Members

function* encodeFields(fields: Fields, members: Members, work: Work): Steps<Buffer> {
  const parts: Buffer[] = []
  for (const [name, value] of Object.entries(members)) {
    const [number, type, repeated] = fields[name] ?? []
    if (value === undefined || number === undefined || type === undefined) continue
    for (const one of repeated ? (value as readonly unknown[]) : [value])
      parts.push(...(yield* field(number, type, one, work)))
  }
  return Buffer.concat(parts)
}

/** An object as a list of `{name, value}`. */
const named = (type: Type): Type => message(() => ({ name: [1, string], value: [2, type] }))
const entriesOf = (value: unknown): readonly Members[] =>
  Object.entries(value as Members).map(([name, one]) => ({ name, value: one }))

/** Any JSON value, as YAML. */
const any = message(
  () => ({ yaml: [2, string] }),
  value => ({ yaml: `${formatJson(value)}\n` }),
)

/** Moves members with the prefix `x-` to one list. */
function withExtensions(value: unknown): Members {
  const entries = Object.entries(value as Members)
  const extensions = entries.filter(([name]) => name.startsWith('x-'))
  const own = Object.fromEntries(entries.filter(([name]) => !name.startsWith('x-')))
  return extensions.length === 0 ? own : { ...own, extensions: entriesOf(Object.fromEntries(extensions)) }
}

const extensions = (number: number): Fields => ({ extensions: [number, named(any), 'repeated'] })
const extended = (fields: () => Fields): Type => message(fields, withExtensions)

const listOf = (number: number, type: Type, members: (value: unknown) => readonly unknown[]): Type =>
  message(
    () => ({ entries: [number, type, 'repeated'] }),
    value => ({ entries: members(value) }),
  )
const oneOrMore = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [value])

const schema: Type = extended(() => ({
  $ref: [1, string],
  format: [2, string],
  title: [3, string],
  description: [4, string],
  default: [5, any],
  multipleOf: [6, double],
  maximum: [7, double],
  exclusiveMaximum: [8, boolean],
  minimum: [9, double],
  exclusiveMinimum: [10, boolean],
  maxLength: [11, int64],
  minLength: [12, int64],
  pattern: [13, string],
  maxItems: [14, int64],
  minItems: [15, int64],
  uniqueItems: [16, boolean],
  maxProperties: [17, int64],
  minProperties: [18, int64],
  required: [19, string, 'repeated'],
  enum: [20, any, 'repeated'],
  additionalProperties: [21, schemaOrBoolean],
  type: [22, listOf(1, string, oneOrMore)],
  items: [23, listOf(1, schema, oneOrMore)],
  allOf: [24, schema, 'repeated'],
  properties: [25, schemasByName],
  example: [30, any],
  ...extensions(31),
}))
const schemaOrBoolean = message(
  () => ({ schema: [1, schema], boolean: [2, boolean] }),
  value => (typeof value === 'boolean' ? { boolean: value } : { schema: value }),
)
const schemasByName: Type = listOf(1, named(schema), entriesOf)

const bodyParameter = message(() => ({
  description: [1, string],
  name: [2, string],
  in: [3, string],
  required: [4, boolean],
  schema: [5, schema],
}))
const inPath = message(() => ({
  required: [1, boolean],
  in: [2, string],
  description: [3, string],
  name: [4, string],
  type: [5, string],
  format: [6, string],
  uniqueItems: [18, boolean],
}))
const inQuery = message(() => ({
  required: [1, boolean],
  in: [2, string],
  description: [3, string],
  name: [4, string],
  type: [6, string],
  format: [7, string],
  uniqueItems: [20, boolean],
}))
const nonBodyParameter = message(
  () => ({ query: [3, inQuery], path: [4, inPath] }),
  value => ({ [String((value as Members).in)]: value }),
)
const parameter = message(
  () => ({ body: [1, bodyParameter], other: [2, nonBodyParameter] }),
  value => ((value as Members).in === 'body' ? { body: value } : { other: value }),
)
const parameterItem = message(
  () => ({ parameter: [1, parameter] }),
  value => ({ parameter: value }),
)

const response = message(() => ({ description: [1, string], schema: [2, responseSchema] }))
const responseSchema = message(
  () => ({ schema: [1, schema] }),
  value => ({ schema: value }),
)
const responseValue = message(
  () => ({ response: [1, response] }),
  value => ({ response: value }),
)

const operation = extended(() => ({
  tags: [1, string, 'repeated'],
  summary: [2, string],
  description: [3, string],
  operationId: [5, string],
  produces: [6, string, 'repeated'],
  consumes: [7, string, 'repeated'],
  parameters: [8, parameterItem, 'repeated'],
  responses: [9, listOf(1, named(responseValue), entriesOf)],
  schemes: [10, string, 'repeated'],
  ...extensions(13),
}))

const path = extended(() => ({
  get: [2, operation],
  put: [3, operation],
  post: [4, operation],
  delete: [5, operation],
  options: [6, operation],
  head: [7, operation],
  patch: [8, operation],
  parameters: [9, parameterItem, 'repeated'],
}))

const info = message(() => ({ title: [1, string], version: [2, string], description: [3, string] }))

/** One entry of the paths of a document; `item` is that of Swagger 2.0. */
export function* gnosticPath(name: string, value: object): Steps<Buffer> {
  return Buffer.concat(yield* field(2, named(path), { name, value }, new Work()))
}

/** One entry of the definitions of a document. */
export function* gnosticDefinition(name: string, value: object): Steps<Buffer> {
  return Buffer.concat(yield* field(1, named(schema), { name, value }, new Work()))
}

/** A Swagger 2.0 document as the pieces of an `openapi.v2.Document`. */
export const gnosticDocument = (
  about: object,
  paths: readonly Buffer[],
  definitions: readonly Buffer[],
): readonly Buffer[] => [
  ...atOnce(field(1, string, '2.0', new Work())),
  ...atOnce(field(2, info, about, new Work())),
  ...messageOf(8, paths),
  ...messageOf(9, definitions),
]

/** A field with a message that has the given encoded fields. */
function messageOf(number: number, fields: readonly Buffer[]): readonly Buffer[] {
  const length = fields.reduce((sum, { length: bytes }) => sum + bytes, 0)
  return [varint(number * 8 + 2), varint(length), ...fields]
}
