import { formatJson } from '../json/json.ts'
import { groupIn } from '../meta/object.ts'
import type { Answer } from '../request/response.ts'
import { type EnvelopeType, encodeMessage, enveloped } from '../wire/protobuf/encode.ts'
import { kindFields } from '../wire/protobuf/fields.ts'
import { formatYaml } from '../wire/yaml.ts'
import { yamlPart } from '../wire/yamlsource.ts'
import { contentTypeOf, type Negotiated } from './negotiation.ts'

/** One decoded document as bytes with a trailing newline, in the negotiated format (rules.md 1.26, 1.30). */
export function encodeValue(value: unknown, how: Negotiated): Buffer {
  if (how.format === 'protobuf') return encodeDocument(value as EnvelopeType)
  if (how.format === 'yaml')
    return yamlPart(Buffer.from(formatYaml(value)), () => [Buffer.from(formatJson(value))])
  return Buffer.from(`${formatJson(value, how.pretty ? 2 : 0)}\n`)
}

/** Only for Status, the only document in protobuf. */
function encodeDocument(document: EnvelopeType): Buffer {
  const fields = kindFields(groupIn(document.apiVersion), document.kind) ?? new Map()
  return enveloped(document, encodeMessage(fields, { ...document }))
}

/** The response with one document: a Status, discovery, a review. */
export const documentAnswer = (value: object, how: Negotiated, status = 200): Answer => ({
  status,
  contentType: contentTypeOf(how),
  body: encodeValue(value, how),
})
