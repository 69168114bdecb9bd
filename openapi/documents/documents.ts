import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { canonicalText } from '../../framework/apply/canonicaltext.ts'
import { type Awaitable, inTurns, Pace } from '../../framework/async/awaitable.ts'
import type { ApiResource, ApiSet } from '../../framework/contract/apis.ts'
import type { Document, OpenApiDocuments } from '../../framework/contract/documents.ts'
import type { VersionInfo } from '../../framework/contract/version.ts'
import { canonicalJson, type Steps } from '../../framework/json/json.ts'
import {
  type Fragments,
  groupFragments,
  groupsFragments,
  versionFragments,
  versionInfoFragments,
} from './fragments.ts'
import { type DocumentInfo, type Format, largestDocument, render } from './render.ts'
import { groupPath, versionPath } from './schema.ts'
import { swaggerJson, swaggerProtobuf } from './v2.ts'
import { openApiV3 } from './v3.ts'

/** A part of the documents; `key` identifies its content. */
interface Part {
  readonly key: string
  readonly fragments: Fragments
}

/** Computes once per ApiSet. */
function oncePerSet<V>(
  make: (apis: ApiSet, pace: Pace) => Promise<V>,
): (apis: ApiSet, pace: Pace) => Promise<V> {
  const known = new WeakMap<ApiSet, Promise<V>>()
  return (apis, pace) => {
    const value = known.get(apis) ?? make(apis, pace)
    known.set(apis, value)
    return value
  }
}

/**
 * OpenAPI documents of ApiSets (rules.md 8.16 to 8.25). A document is rendered on first use, and shared by ApiSets that
 * serve equal resources in a group version. Evicted documents are rendered again with the same bytes. `version` is the
 * content of `/version`.
 */
export function createOpenApiDocuments(version: Pick<VersionInfo, 'gitVersion'>): OpenApiDocuments {
  const info: DocumentInfo = { title: 'Oriel', version: version.gitVersion }
  const documents = new RenderedDocuments()
  const parts = oncePerSet((apis, pace) => inTurns(partsOf(apis), pace))
  const rendered = (part: Part, pace: Pace) =>
    documents.get(part.key, () => render(info, [part.fragments], openApiV3), pace)
  const index = oncePerSet(async (apis, pace) => {
    const etags: [string, string][] = []
    for (const [path, part] of await parts(apis, pace)) etags.push([path, (await rendered(part, pace)).etag])
    return new Map(etags)
  })
  const swagger = async (apis: ApiSet, name: string, format: Format) => {
    const pace = new Pace()
    const all = await parts(apis, pace)
    return documents.get(`${name} ${keysOf(all)}`, () => render(info, fragmentsOf(all), format), pace)
  }
  return {
    index: apis => index(apis, new Pace()),
    async v3(apis, path) {
      const pace = new Pace()
      const part = (await parts(apis, pace)).get(path)
      return part && rendered(part, pace)
    },
    v2: apis => swagger(apis, 'v2', swaggerJson),
    v2Protobuf: apis => swagger(apis, 'v2 protobuf', swaggerProtobuf),
  }
}

/** Documents by what identifies their content. */
class RenderedDocuments {
  readonly #known = new LRUCache<string, Document>({
    maxSize: largestDocument,
    sizeCalculation: d => d.bytes.length,
  })
  readonly #made = new Map<string, Promise<Document>>()

  get(key: string, steps: () => Steps<Document>, pace: Pace): Awaitable<Document> {
    return this.#known.get(key) ?? this.#made.get(key) ?? this.#make(key, steps(), pace)
  }

  #make(key: string, steps: Steps<Document>, pace: Pace): Promise<Document> {
    const made = inTurns(steps, pace)
      .then(document => {
        this.#known.set(key, document)
        return document
      })
      .finally(() => this.#made.delete(key))
    this.#made.set(key, made)
    return made
  }
}

type Parts = ReadonlyMap<string, Part>

const keysOf = (parts: Parts): string => [...parts.values()].map(part => part.key).join(' ')

const fragmentsOf = (parts: Parts): readonly Fragments[] => [...parts.values()].map(part => part.fragments)

/** The documents of an ApiSet by path, in the order of paths. */
function* partsOf(apis: ApiSet): Steps<Parts> {
  const versions = byVersion(apis.resources)
  const groups = new Set(apis.resources.map(r => r.group).filter(group => group !== ''))
  const parts = new Map<string, Part>()
  const fixed = (path: string, fragments: Fragments) => parts.set(path, { key: path, fragments })
  fixed('api', groupFragments(''))
  fixed('apis', groupsFragments)
  fixed('version', versionInfoFragments)
  for (const group of groups) fixed(groupPath(group), groupFragments(group))
  for (const [path, resources] of versions) {
    const key = `${path} ${yield* contentKey(resources)}`
    parts.set(path, { key, fragments: versionFragments(resources) })
  }
  return new Map([...parts].sort(([a], [b]) => (a < b ? -1 : 1)))
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

const digest = (text: string): string => createHash('sha256').update(text).digest('base64')

function* digestSteps(value: unknown): Steps<string> {
  return digest((yield* canonicalText(value, Number.POSITIVE_INFINITY)) ?? '')
}

const digests = new WeakMap<object, string>()

/** The hash of an immutable value, computed once per object. */
function* digestOf(value: object): Steps<string> {
  const known = digests.get(value)
  if (known !== undefined) return known
  const made = yield* digestSteps(value)
  digests.set(value, made)
  return made
}

/** The hash of a schema. Copies of a schema share `properties`, its largest part. */
function* schemaDigest({ properties, ...rest }: ApiResource['openapi']): Steps<string> {
  const inner = typeof properties === 'object' && properties !== null ? yield* digestOf(properties) : ''
  return digest(`${yield* digestSteps(rest)} ${inner}`)
}

/** A hash of everything that rendering reads: equal for resources with equal documents. */
function* contentKey(resources: readonly ApiResource[]): Steps<string> {
  const hash = createHash('sha256')
  for (const resource of resources) {
    hash.update(`${yield* contentOf(resource)}\n`)
    yield
  }
  return hash.digest('base64')
}

/** Text without line feeds. */
function* contentOf(resource: ApiResource): Steps<string> {
  const { group, version, names, namespaced, verbs, custom, deleteReturnsObject } = resource
  return canonicalJson({
    group,
    version,
    names,
    namespaced,
    verbs,
    custom,
    deleteReturnsObject: deleteReturnsObject === true,
    fields: Object.keys(resource.selectableFields ?? {}),
    subresources: resource.subresources.map(sub => [sub.name, sub.group, sub.version, sub.kind, sub.verbs]),
    schema: yield* schemaDigest(resource.openapi),
  })
}
