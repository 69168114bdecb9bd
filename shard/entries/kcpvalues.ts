import { atOnce, parseJson } from '../../framework/json/json.ts'
import { isObject } from '../../framework/json/values.ts'
import type { KubeObject } from '../../framework/meta/object.ts'
import { protobufSteps } from '../../framework/wire/protobuf/parse.ts'

const openingBrace = 0x7b

/**
 * The object in a value of kcp's etcd: JSON of custom resources, protobuf of built-in kinds. Throws `SyntaxError` for anything else,
 * as encrypted values.
 */
export function decodeKcpValue(value: Buffer): KubeObject {
  const decoded = value[0] === openingBrace ? parseJson(value) : atOnce(protobufSteps(value))
  if (isKubeObject(decoded)) return decoded
  throw new SyntaxError('the value is not a Kubernetes object')
}

const isKubeObject = (value: unknown): value is KubeObject =>
  isObject(value) &&
  typeof value.apiVersion === 'string' &&
  typeof value.kind === 'string' &&
  isObject(value.metadata)
