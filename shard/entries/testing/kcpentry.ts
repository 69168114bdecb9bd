import { groupIn, type KubeObject } from '../../../framework/meta/object.ts'
import { encodeMessage, enveloped } from '../../../framework/wire/protobuf/encode.ts'
import { kindFields } from '../../../framework/wire/protobuf/fields.ts'
import type { DumpEntry } from '../../../kcp/migration.ts'

const entry = (key: string, value: Buffer): DumpEntry => ({ key, value: value.toString('base64') })

/** An entry of a custom resource as kcp stores it. */
export const jsonEntry = (key: string, object: unknown): DumpEntry =>
  entry(key, Buffer.from(JSON.stringify(object)))

/** An entry of a built-in kind as kcp stores it. Throws a `TypeError` for other kinds. */
export function protobufEntry(key: string, object: KubeObject): DumpEntry {
  const { apiVersion, kind } = object
  const fields = kindFields(groupIn(apiVersion), kind)
  if (fields === undefined) throw new TypeError(`${kind} has no protobuf`)
  return entry(key, enveloped({ apiVersion, kind }, encodeMessage(fields, { ...object })))
}
