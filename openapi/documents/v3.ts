import type { OpenAPIV3 } from 'openapi-types'
import type { ApiResource } from '../../framework/contract/apis.ts'
import type { Steps } from '../../framework/json/json.ts'
import { componentsOf } from './kinds.ts'
import { sharedModels } from './models.ts'
import { plainGet } from './operations.ts'
import { type PathItem, type Paths, pathsOf } from './paths.ts'
import {
  type Component,
  type Components,
  groupPath,
  mapValues,
  meta,
  operationScope,
  operationTag,
  referencedModels,
  versionModel,
  versionPath,
} from './schema.ts'

/** An OpenAPI 3.0 document of one path, such as a group version (rules.md 8.21). */
export interface DocumentV3 {
  readonly openapi: '3.0.0'
  readonly info: Readonly<Pick<OpenAPIV3.InfoObject, 'title' | 'version'>>
  readonly paths: Paths
  readonly components: { readonly schemas: Components }
}

/** The title and version of documents. */
export type DocumentInfo = DocumentV3['info']

/** Adds the referenced shared models, so that the document is self-contained. */
function* withSharedModels(info: DocumentInfo, paths: Paths, own: Components): Steps<DocumentV3> {
  const schemas: Record<string, Components[string]> = { ...own }
  let missing = [...(yield* referencedModels([paths, own]))]
  while (missing.length > 0) {
    const added = missing.flatMap(name => {
      const model = sharedModels[name]
      return model === undefined || name in schemas ? [] : [[name, model] as const]
    })
    Object.assign(schemas, Object.fromEntries(added))
    missing = [...(yield* referencedModels(added))]
  }
  const sorted = Object.fromEntries(Object.entries(schemas).sort(byKey))
  return { openapi: '3.0.0', info, paths, components: { schemas: sorted } }
}

const byKey = ([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number =>
  a < b ? -1 : a > b ? 1 : 0

/** DeleteOptions have the group version of the document. */
const withDeleteOptions = (document: DocumentV3, group: string, version: string): DocumentV3 => {
  const name = meta('DeleteOptions')
  const schemas = mapValues(document.components.schemas, (schema, model) =>
    model === name
      ? { ...schema, 'x-kubernetes-group-version-kind': [{ group, version, kind: 'DeleteOptions' }] }
      : schema,
  )
  return { ...document, components: { schemas } }
}

/** The document of a group version; `resources` are the resources of that group version. */
export function* versionDocument(info: DocumentInfo, resources: readonly ApiResource[]): Steps<DocumentV3> {
  const { group, version } = resources[0] ?? { group: '', version: '' }
  const resourceList = {
    get: plainGet(
      operationTag(group, version),
      `get${operationScope(group, version)}APIResources`,
      'Lists the resources of this group and version.',
      meta('APIResourceList'),
    ),
  }
  const paths: Record<string, PathItem> = { [`/${versionPath(group, version)}/`]: resourceList }
  const own: Record<string, Component> = {}
  for (const resource of resources) {
    Object.assign(paths, pathsOf(resource))
    Object.assign(own, yield* componentsOf(resource))
    yield
  }
  return withDeleteOptions(yield* withSharedModels(info, paths, own), group, version)
}

const single = (info: DocumentInfo, path: string, get: ReturnType<typeof plainGet>): Steps<DocumentV3> =>
  withSharedModels(info, { [`/${path}/`]: { get } }, {})

/** `api`: the versions of the core group. `apis/<group>`: the versions of another one. */
export function groupDocument(info: DocumentInfo, group: string): Steps<DocumentV3> {
  const id = `get${operationScope(group, '')}`
  const tag = operationTag(group, '')
  return group === ''
    ? single(
        info,
        'api',
        plainGet(tag, `${id}APIVersions`, 'Lists the versions of the core group.', meta('APIVersions')),
      )
    : single(info, groupPath(group), plainGet(tag, `${id}APIGroup`, 'Shows this group.', meta('APIGroup')))
}

export const groupsDocument = (info: DocumentInfo): Steps<DocumentV3> =>
  single(info, 'apis', plainGet('apis', 'getAPIGroups', 'Lists the groups.', meta('APIGroupList')))

export const versionInfoDocument = (info: DocumentInfo): Steps<DocumentV3> =>
  single(info, 'version', plainGet('version', 'getVersion', 'Shows the version of the server.', versionModel))
