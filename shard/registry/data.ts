import { isDeepStrictEqual } from 'node:util'
import { jsonErrorSteps } from '../../framework/json/exactjson.ts'
import { maxDepth, type Steps, surveySteps } from '../../framework/json/json.ts'
import { keysOf } from '../../framework/json/values.ts'
import type { FieldError } from '../../framework/meta/errors.ts'
import type { ErrorSteps } from '../../framework/meta/errorsteps.ts'
import { forbidden, invalidValue, required } from '../../framework/meta/fielderror.ts'
import type { KubeObject } from '../../framework/meta/object.ts'

type Texts = Readonly<Record<string, string>>

interface Data {
  readonly data?: Texts
  readonly binaryData?: Texts
  readonly stringData?: Texts
  readonly immutable?: boolean
  readonly type?: string
}

/** The limit for all values of one object, in bytes. */
const largest = 1_048_576

const decoded = (base64: string): Buffer => Buffer.from(base64, 'base64')

type Size = (value: string) => number

/** The errors of the keys, and the size of the values, in one pass: there may be tens of thousands. */
function checked(field: string, values: Texts = {}, bytes: Size) {
  const errors: FieldError[] = []
  let size = 0
  for (const key of keysOf(values)) {
    size += bytes(values[key] ?? '')
    for (const detail of keyErrors(key)) errors.push(invalidValue(`${field}[${key}]`, key, detail))
  }
  return { errors, size }
}

const sizeOfBase64: Size = value => (value === '' ? 0 : decoded(value).length)

/** `IsConfigMapKey` of `k8s.io/apimachinery/pkg/util/validation`. */
function keyErrors(key: string): readonly string[] {
  const pattern = '[-._a-zA-Z0-9]+'
  const shape = /^[-._a-zA-Z0-9]+$/.test(key)
    ? []
    : [
        "a valid config key must consist of alphanumeric characters, '-', '_' or '.' " +
          `(e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '${pattern}')`,
      ]
  if (key.length > 253) return ['must be no more than 253 characters', ...shape]
  if (key === '.') return [...shape, "must not be '.'"]
  if (key === '..') return [...shape, "must not be '..'"]
  return key.startsWith('..') ? [...shape, "must not start with '..'"] : shape
}

const tooLong = (field: string): FieldError => ({
  type: 'FieldValueTooLong',
  field,
  detail: `may not be more than ${largest} bytes`,
})

/** An immutable object keeps its data and stays immutable. */
function immutableErrors(object: KubeObject, old: KubeObject | undefined, fields: readonly string[]) {
  if (old?.immutable !== true) return []
  const refuse = (field: string) => forbidden(field, 'field is immutable when `immutable` is set')
  const changed = fields.filter(field => !isDeepStrictEqual(object[field], old[field]))
  return [...(object.immutable === true ? [] : [refuse('immutable')]), ...changed.map(refuse)]
}

/** `ValidateConfigMap` of Kubernetes. */
export function configMapErrors(object: KubeObject, old?: KubeObject): readonly FieldError[] {
  const { data = {}, binaryData } = object as KubeObject & Data
  const twice = binaryData ? keysOf(data).filter(key => Object.hasOwn(binaryData, key)) : []
  const texts = checked('data', data, Buffer.byteLength)
  const binary = checked('binaryData', binaryData, sizeOfBase64)
  return [
    ...texts.errors,
    ...twice.map(key => invalidValue(`data[${key}]`, key, 'duplicate of key present in binaryData')),
    ...binary.errors,
    ...(texts.size + binary.size > largest ? [tooLong('')] : []),
    ...immutableErrors(object, old, ['data', 'binaryData']),
  ]
}

/** Merges the write-only `stringData` into `data` (rules.md 3.41). */
export function mergeStringData(object: KubeObject): KubeObject {
  const typed = object.type === '' ? { ...object, type: 'Opaque' } : object
  const { stringData, ...rest } = typed as KubeObject & Data
  if (stringData === undefined) return typed
  const encoded = Object.entries(stringData).map(([key, text]) => [key, Buffer.from(text).toString('base64')])
  return { ...rest, data: { ...rest.data, ...Object.fromEntries(encoded) } } as KubeObject
}

/** `ValidateSecret` of Kubernetes, including the required keys of each type. */
export function* secretErrors(object: KubeObject, old?: KubeObject): ErrorSteps {
  const { data } = object as KubeObject & Data
  const changed = old !== undefined && object.type !== old.type
  const { errors, size } = checked('data', data, sizeOfBase64)
  return [
    ...errors,
    ...(size > largest ? [tooLong('data')] : []),
    ...(yield* typeErrors(object)),
    ...(changed ? [invalidValue('type', object.type, 'field is immutable')] : []),
    ...immutableErrors(object, old, ['data']),
  ]
}

function* typeErrors(secret: KubeObject & Data): ErrorSteps {
  const { type, data = {}, metadata } = secret
  const missing = (...keys: readonly string[]): readonly FieldError[] =>
    keys.filter(key => !Object.hasOwn(data, key)).map(key => required(`data[${key}]`))
  const account = 'kubernetes.io/service-account.name'
  switch (type) {
    case 'kubernetes.io/service-account-token':
      return metadata.annotations?.[account] ? [] : [required(`metadata.annotations[${account}]`)]
    case 'kubernetes.io/dockercfg':
      return [...missing('.dockercfg'), ...(yield* jsonErrors(data, '.dockercfg'))]
    case 'kubernetes.io/dockerconfigjson':
      return [...missing('.dockerconfigjson'), ...(yield* jsonErrors(data, '.dockerconfigjson'))]
    case 'kubernetes.io/basic-auth':
      return data.username === undefined && data.password === undefined ? missing('username', 'password') : []
    case 'kubernetes.io/ssh-auth':
      return data['ssh-privatekey'] ? [] : [required('data[ssh-privatekey]')]
    case 'kubernetes.io/tls':
      return missing('tls.crt', 'tls.key')
    default:
      return []
  }
}

const typesByFirst: Readonly<Record<string, string>> = { '[': 'array', '"': 'string', t: 'bool', f: 'bool' }

/** The errors of a value that must be a JSON object or null, as Go decodes a map. */
function* jsonErrors(data: Texts, key: string): ErrorSteps {
  const value = data[key]
  const why = value === undefined ? undefined : yield* objectProblem(decoded(value))
  return why === undefined ? [] : [invalidValue(`data[${key}]`, '<secret contents redacted>', why)]
}

function* objectProblem(json: Buffer): Steps<string | undefined> {
  const { depth } = yield* surveySteps(json)
  if (depth > maxDepth) return 'exceeded max depth'
  const error = yield* jsonErrorSteps(json)
  if (error !== undefined) return error
  const first = json.toString('latin1').trimStart().charAt(0)
  if (first === '{' || first === 'n') return undefined
  return `json: cannot unmarshal ${typesByFirst[first] ?? 'number'} into Go value of type map[string]interface {}`
}

/** Keeps only the names of a ServiceAccount's secrets. */
export function withNamedSecrets(account: KubeObject): KubeObject {
  const { secrets } = account as { secrets?: readonly { readonly name?: string }[] }
  if (secrets === undefined) return account
  return { ...account, secrets: secrets.map(({ name }) => (name === undefined ? {} : { name })) }
}
