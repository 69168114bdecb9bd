import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { ApiResource, ApiSet } from '../../framework/contract/apis.ts'
import type { Document, OpenApiDocuments } from '../../framework/contract/documents.ts'
import type { VersionInfo } from '../../framework/contract/version.ts'
import { canonicalJson, formatJson } from '../../framework/json/json.ts'
import { gnosticDocument } from './gnostic.ts'
import { groupPath, versionPath } from './schema.ts'
import { documentV2 } from './v2.ts'
import {
  type DocumentInfo,
  type DocumentV3,
  groupDocument,
  groupsDocument,
  versionDocument,
  versionInfoDocument,
} from './v3.ts'

/** A part of the documents; `key` identifies its content. */
interface Part {
  readonly key: string
  make(): DocumentV3
}

/** The maximum size of cached documents, in bytes. */
const maxBytes = 128 * 1024 * 1024

const json = (document: object): Buffer => Buffer.from(formatJson(document))

function render(document: object, encode: (document: object) => Buffer): Document {
  const bytes = encode(document)
  return { bytes, etag: createHash('sha512').update(bytes).digest('hex').toUpperCase() }
}

/** Computes once per ApiSet. */
function oncePerSet<V>(make: (apis: ApiSet) => V): (apis: ApiSet) => V {
  const known = new WeakMap<ApiSet, { readonly value: V }>()
  return apis => {
    const entry = known.get(apis) ?? { value: make(apis) }
    known.set(apis, entry)
    return entry.value
  }
}

/**
 * OpenAPI documents of ApiSets (rules.md 8.16 to 8.25). A document is rendered on first use, and shared by ApiSets that
 * serve equal resources in a group version. Evicted documents are rendered again with the same bytes. `version` is the
 * content of `/version`.
 */
export function createOpenApiDocuments(version: Pick<VersionInfo, 'gitVersion'>): OpenApiDocuments {
  const info: DocumentInfo = { title: 'Oriel', version: version.gitVersion }
  const rendered = new LRUCache<string, Document>({ maxSize: maxBytes, sizeCalculation: d => d.bytes.length })

  function documentFor(key: string, make: () => object, encode = json): Document {
    const known = rendered.get(key)
    if (known !== undefined) return known
    const document = render(make(), encode)
    rendered.set(key, document)
    return document
  }
  const parts = oncePerSet(apis => partsOf(info, apis))
  const index = oncePerSet(
    apis => new Map([...parts(apis)].map(([path, part]) => [path, documentFor(part.key, part.make).etag])),
  )
  return {
    index,
    v3(apis, path) {
      const part = parts(apis).get(path)
      return part === undefined ? undefined : documentFor(part.key, part.make)
    },
    v2: apis => documentFor(`v2 ${keysOf(parts(apis))}`, () => swagger(info, parts(apis))),
    v2Protobuf: apis =>
      documentFor(`v2 protobuf ${keysOf(parts(apis))}`, () => swagger(info, parts(apis)), gnosticDocument),
  }
}

type Parts = ReadonlyMap<string, Part>

const keysOf = (parts: Parts): string => [...parts.values()].map(part => part.key).join(' ')

const swagger = (info: DocumentInfo, parts: Parts): object =>
  documentV2(
    info,
    [...parts.values()].map(part => part.make()),
  )

/** The documents of an ApiSet by path, in the order of paths. */
function partsOf(info: DocumentInfo, apis: ApiSet): Parts {
  const versions = byVersion(apis.resources)
  const groups = new Set(apis.resources.map(r => r.group).filter(group => group !== ''))
  const fixed = (path: string, make: () => DocumentV3): readonly [string, Part] => [path, { key: path, make }]
  const parts = [
    fixed('api', () => groupDocument(info, '')),
    fixed('apis', () => groupsDocument(info)),
    fixed('version', () => versionInfoDocument(info)),
    ...[...groups].map(group => fixed(groupPath(group), () => groupDocument(info, group))),
    ...[...versions].map(([path, resources]) => versionPart(info, path, resources)),
  ]
  return new Map(parts.sort(([a], [b]) => (a < b ? -1 : 1)))
}

function byVersion(resources: readonly ApiResource[]): ReadonlyMap<string, readonly ApiResource[]> {
  const groups = new Map<string, ApiResource[]>()
  for (const resource of resources) {
    const path = versionPath(resource.group, resource.version)
    const known = groups.get(path)
    if (known === undefined) groups.set(path, [resource])
    else known.push(resource)
  }
  return groups
}

const versionPart = (
  info: DocumentInfo,
  path: string,
  resources: readonly ApiResource[],
): readonly [string, Part] => [
  path,
  { key: `${path} ${contentKey(resources)}`, make: () => versionDocument(info, resources) },
]

const digest = (text: string): string => createHash('sha256').update(text).digest('base64')

const digests = new WeakMap<object, string>()

/** The hash of an immutable value, computed once per object. */
function digestOf(value: object): string {
  const known = digests.get(value)
  if (known !== undefined) return known
  const made = digest(canonicalJson(value))
  digests.set(value, made)
  return made
}

/** The hash of a schema. Copies of a schema share `properties`, its largest part. */
function schemaDigest({ properties, ...rest }: ApiResource['openapi']): string {
  const inner = typeof properties === 'object' && properties !== null ? digestOf(properties) : ''
  return digest(`${canonicalJson(rest)} ${inner}`)
}

/** A hash of everything that rendering reads: equal for resources with equal documents. */
export const contentKey = (resources: readonly ApiResource[]): string =>
  digest(canonicalJson(resources.map(readParts)))

const readParts = (resource: ApiResource): object => {
  const { group, version, names, namespaced, verbs, custom, deleteReturnsObject } = resource
  return {
    group,
    version,
    names,
    namespaced,
    verbs,
    custom,
    deleteReturnsObject: deleteReturnsObject === true,
    fields: Object.keys(resource.selectableFields ?? {}),
    subresources: resource.subresources.map(sub => [sub.name, sub.group, sub.version, sub.kind, sub.verbs]),
    schema: schemaDigest(resource.openapi),
  }
}
