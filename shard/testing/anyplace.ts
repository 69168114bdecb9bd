import fc from 'fast-check'
import { isObject } from '../../framework/json/values.ts'
import type { JSONSchemaProps } from '../../framework/meta/jsonschema.ts'
import type { KubeObject } from '../../framework/meta/object.ts'

/** A path in an object: names of members, and indexes of items. */
export type Place = readonly (string | number)[]

/** Any JSON value, mostly a small one of another type than the field. */
export const anyJson: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown>(
    ...[null, true, false, 0, 1, -1, 7, 0.5, 1e300, 2 ** 53, '', 'a', 'Universal', 'root:a', 'A B', '/', ':'],
    ...[
      'v1',
      '1',
      '*',
      '__proto__',
      '\u0000',
      '2020-01-01T00:00:00Z',
      'https://a',
      [],
      {},
      [null],
      [[]],
      ['a'],
    ],
    ...[[5], [{}], { a: 'b' }, { name: 5 }, { name: 'a' }, { path: 7, name: 'a' }, { constructor: 1 }],
    ...[{ length: 1 }, { a: { b: ['c'] } }, JSON.parse('{"__proto__":{"a":1}}'), 'a'.repeat(300)],
  ),
  fc.jsonValue({ maxDepth: 2 }),
)

const metadataPlaces: readonly Place[] = [
  ['apiVersion'],
  ['kind'],
  ['metadata'],
  ...['annotations', 'labels', 'finalizers', 'ownerReferences', 'generateName', 'managedFields', 'name'].map(
    field => ['metadata', field],
  ),
  ...['namespace', 'uid', 'generation', 'creationTimestamp', 'deletionTimestamp', 'selfLink'].map(field => [
    'metadata',
    field,
  ]),
  ['metadata', 'annotations', 'a'],
  ['metadata', 'labels', 'a'],
  ['metadata', 'finalizers', 0],
  ['metadata', 'ownerReferences', 0],
  ['unknown'],
  ['spec', 'unknown'],
]

/** All places of a schema, at most `depth` levels below the root. */
function placesOf(schema: JSONSchemaProps, depth: number): readonly Place[] {
  if (depth === 0) return []
  const { properties = {}, items, additionalProperties: values } = schema
  const members: (readonly [string | number, JSONSchemaProps])[] = Object.entries(properties)
  if (items !== undefined) members.push([0, items])
  if (isObject(values)) members.push(['a', values])
  return members.flatMap(([step, below]) => [
    [step],
    ...placesOf(below, depth - 1).map(place => [step, ...place]),
  ])
}

/** Every place of an object of a kind. */
export const anyPlace = (schema: JSONSchemaProps): fc.Arbitrary<Place> =>
  fc.oneof(
    { weight: 1, arbitrary: fc.constantFrom(...metadataPlaces) },
    { weight: 4, arbitrary: fc.constantFrom(...placesOf({ ...schema, properties: contentOf(schema) }, 9)) },
  )

function contentOf({ properties = {} }: JSONSchemaProps): Readonly<Record<string, JSONSchemaProps>> {
  const { metadata: _, ...content } = properties
  return content
}

/** A copy with another value at a place; missing containers are created. */
export function withValueAt(object: unknown, [step, ...rest]: Place, value: unknown): unknown {
  if (step === undefined) return value
  if (typeof step === 'number') {
    const items = Array.isArray(object) ? [...object] : []
    items[step] = withValueAt(items[step], rest, value)
    return items
  }
  const members = isObject(object) ? object : {}
  return { ...members, [step]: withValueAt(members[step], rest, value) }
}

/** Paths that were sent and are missing in the stored object; unknown fields and nulls may be missing. */
export function lost(sent: unknown, stored: unknown, path: string): readonly string[] {
  if (sent === null || sent === undefined || Object.is(sent, stored)) return []
  if (Array.isArray(sent)) {
    // As Kubernetes does, roles without rules are stored with null.
    if (!Array.isArray(stored)) return sent.length === 0 && (stored ?? null) === null ? [] : [path]
    return sent.flatMap((item, i) => lost(item, stored[i], `${path}[${i}]`))
  }
  if (!isObject(sent)) return [path]
  const isEmpty = Object.values(sent).every(value => value === null)
  if (!isObject(stored)) return isEmpty && stored === undefined ? [] : [path]
  return Object.keys(sent).flatMap(key => lost(sent[key], stored[key], path === '' ? key : `${path}.${key}`))
}

/** The part of an object that its kind describes and that a write to the main resource stores. */
export function contentsOf(object: KubeObject, hasStatus: boolean): unknown {
  const { metadata: _, apiVersion: __, kind: ___, ...content } = object
  const { status: ____, ...others } = content
  return hasStatus ? others : content
}
