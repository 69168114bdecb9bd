import type { ApiResource } from '../../framework/contract/apis.ts'
import type { Steps } from '../../framework/json/json.ts'
import { componentsOf } from './kinds.ts'
import { sharedModels } from './models.ts'
import { plainGet } from './operations.ts'
import { type Paths, pathsOf } from './paths.ts'
import {
  type Component,
  type Components,
  type GroupVersionKind,
  groupPath,
  meta,
  operationScope,
  operationTag,
  referencedModels,
  versionModel,
  versionPath,
} from './schema.ts'

/** The paths and models of one resource, or of discovery: what a document has of them is made, encoded and dropped. */
export interface Fragment {
  readonly paths: Paths
  readonly schemas: Components
}

/** Gives the fragments of a document to `take`, one after the other. */
export type Fragments = (take: (fragment: Fragment) => Steps) => Steps

/** Adds the shared models that fragments reference, so that the document is self-contained. DeleteOptions have the group version. */
const withSharedModels = (fragments: Fragments, group = '', version = ''): Fragments =>
  function* (take) {
    const own = new Set<string>()
    const referenced = new Set<string>()
    yield* fragments(function* (fragment) {
      for (const name of Object.keys(fragment.schemas)) own.add(name)
      for (const name of yield* referencedModels(fragment)) referenced.add(name)
      yield* take(fragment)
    })
    const options = [{ group, version, kind: 'DeleteOptions' }]
    yield* take({ paths: {}, schemas: yield* sharedOnes(referenced, own, options) })
  }

/** The shared models among those that are referenced, and those that they reference. */
function* sharedOnes(
  names: Set<string>,
  own: ReadonlySet<string>,
  options: readonly GroupVersionKind[],
): Steps<Components> {
  const shared: Record<string, Component> = {}
  // A Set visits members that are added meanwhile.
  for (const name of names) {
    const model = own.has(name) ? undefined : sharedModels[name]
    if (model === undefined) continue
    const isOptions = name === meta('DeleteOptions')
    shared[name] = isOptions ? { ...model, 'x-kubernetes-group-version-kind': options } : model
    for (const inner of yield* referencedModels(model)) names.add(inner)
  }
  return shared
}

/** A group version; `resources` are the resources of that group version. */
export function versionFragments(resources: readonly ApiResource[]): Fragments {
  const { group, version } = resources[0] ?? { group: '', version: '' }
  return withSharedModels(ownFragments(resources, group, version), group, version)
}

const ownFragments = (resources: readonly ApiResource[], group: string, version: string): Fragments =>
  function* (take) {
    const get = plainGet(
      operationTag(group, version),
      `get${operationScope(group, version)}APIResources`,
      'Lists the resources of this group and version.',
      meta('APIResourceList'),
    )
    yield* take({ paths: { [`/${versionPath(group, version)}/`]: { get } }, schemas: {} })
    for (const resource of resources)
      yield* take({ paths: pathsOf(resource), schemas: yield* componentsOf(resource) })
  }

const single = (path: string, get: ReturnType<typeof plainGet>): Fragments =>
  withSharedModels(take => take({ paths: { [`/${path}/`]: { get } }, schemas: {} }))

/** `api`: the versions of the core group. `apis/<group>`: the versions of another one. */
export function groupFragments(group: string): Fragments {
  const id = `get${operationScope(group, '')}`
  const tag = operationTag(group, '')
  return group === ''
    ? single(
        'api',
        plainGet(tag, `${id}APIVersions`, 'Lists the versions of the core group.', meta('APIVersions')),
      )
    : single(groupPath(group), plainGet(tag, `${id}APIGroup`, 'Shows this group.', meta('APIGroup')))
}

export const groupsFragments: Fragments = single(
  'apis',
  plainGet('apis', 'getAPIGroups', 'Lists the groups.', meta('APIGroupList')),
)

export const versionInfoFragments: Fragments = single(
  'version',
  plainGet('version', 'getVersion', 'Shows the version of the server.', versionModel),
)
