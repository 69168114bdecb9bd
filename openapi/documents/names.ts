import type { ApiResource } from '../../framework/contract/apis.ts'

/** Model names of what every API has in common. */
export const meta = (kind: string): string => `io.k8s.apimachinery.pkg.apis.meta.v1.${kind}`
export const versionModel = 'io.k8s.apimachinery.pkg.version.Info'

// Kinds of Kubernetes are named after the Go package they are declared in.
const packages: Readonly<Record<string, string>> = {
  '': 'io.k8s.api.core',
  'apiextensions.k8s.io': 'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions',
}
const goPackage = (group: string): string => packages[group] ?? `io.k8s.api.${group.split('.')[0]}`

export const builtinModel = (group: string, version: string, kind: string): string =>
  `${goPackage(group)}.${version}.${kind}`

/** The model name of a kind (chapter 40, rule 8.22). */
export function modelName({ group, version, custom }: ApiResource, kind: string): string {
  if (!custom) return builtinModel(group, version, kind)
  const reversed = group === '' ? 'core' : group.split('.').reverse().join('.')
  return `${reversed}.${version}.${kind}`
}

const titled = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1)

/** `CoreV1`, `RbacAuthorizationV1`, `ExampleComV1`: a group version inside an operation id. */
export function operationScope(group: string, version: string): string {
  const labels = group === '' ? ['core'] : group.replace(/\.k8s\.io$/, '').split('.')
  return [...labels, version].map(label => titled(label.replace(/[^A-Za-z0-9]/g, ''))).join('')
}

/** `core_v1`: the tag of the operations of a group version. */
export const operationTag = (group: string, version: string): string =>
  [operationScope(group, '').replace(/^./, first => first.toLowerCase()), version]
    .filter(part => part !== '')
    .join('_')

/** The root of a group's URLs. */
export const groupPath = (group: string): string => (group === '' ? 'api' : `apis/${group}`)
/** A group version, as the index of documents names it. */
export const versionPath = (group: string, version: string): string => `${groupPath(group)}/${version}`
