import type { ApiResource, Subresource } from '../../framework/contract/apis.ts'
import type { Verb } from '../../framework/request/requestinfo.ts'
import { kindOf, subresourceKind, subresourceModel } from './kinds.ts'
import {
  methodOf,
  nameParameter,
  namespaceParameter,
  type Operation,
  type OperationAction,
  type OperationMethod,
  type OperationParameter,
  type OperationSubject,
  operationOf,
  prettyParameter,
} from './operations.ts'
import { meta, modelName, versionPath } from './schema.ts'

/** The operations of a path, and their common parameters. */
export type PathItem = Readonly<Partial<Record<OperationMethod, Operation>>> & {
  readonly parameters?: readonly OperationParameter[]
}
export type Paths = Readonly<Record<string, PathItem>>

type Actions = Readonly<Partial<Record<Verb, OperationAction>>>

const collectionActions: Actions = { list: 'list', create: 'post', deletecollection: 'deletecollection' }
const itemActions: Actions = { get: 'get', update: 'put', patch: 'patch', delete: 'delete' }
const subresourceActions: Actions = { ...itemActions, create: 'post' }

const actionsFor = (verbs: readonly Verb[], of: Actions): readonly OperationAction[] =>
  verbs.flatMap(verb => of[verb] ?? [])

function pathItem(
  actions: readonly OperationAction[],
  subjectOf: (action: OperationAction) => OperationSubject,
  parameters: readonly OperationParameter[],
): PathItem {
  const operations = actions.map(action => [methodOf(action), operationOf(action, subjectOf(action))])
  return { ...Object.fromEntries(operations), parameters: [...parameters, prettyParameter] }
}

function answerOf(resource: ApiResource, action: OperationAction): string {
  if (action === 'list') return modelName(resource, resource.names.listKind)
  if (action === 'deletecollection') return meta('Status')
  if (action === 'delete' && resource.deleteReturnsObject !== true) return meta('Status')
  return modelName(resource, resource.names.kind)
}

const subjectFor =
  (resource: ApiResource, id: string) =>
  (action: OperationAction): OperationSubject => ({
    group: resource.group,
    version: resource.version,
    id,
    kind: kindOf(resource),
    custom: resource.custom,
    model: modelName(resource, resource.names.kind),
    answer: answerOf(resource, action),
  })

const subresourceSubject = (resource: ApiResource, sub: Subresource, id: string): OperationSubject => {
  const model = subresourceModel(resource, sub)
  return {
    group: resource.group,
    version: resource.version,
    id,
    kind: subresourceKind(resource, sub),
    custom: resource.custom,
    model,
    answer: model,
  }
}

const titled = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1)

/** The paths of a resource and their operations (rules.md 8.25). */
export function pathsOf(resource: ApiResource): Paths {
  const { names, namespaced, verbs, subresources } = resource
  const root = `/${versionPath(resource.group, resource.version)}`
  const collection = `${root}${namespaced ? '/namespaces/{namespace}' : ''}/${names.plural}`
  const id = `${namespaced ? 'Namespaced' : ''}${names.kind}`
  const inside = namespaced ? [namespaceParameter] : []
  const item = [nameParameter(names.kind), ...inside]
  const subject = subjectFor(resource, id)
  const below = subresources.map(sub => [
    `${collection}/{name}/${sub.name}`,
    pathItem(
      actionsFor(sub.verbs, subresourceActions),
      () => subresourceSubject(resource, sub, `${id}${titled(sub.name)}`),
      item,
    ),
  ])
  return {
    ...everywhere(resource, `${root}/${names.plural}`),
    ...pathIfAny(collection, pathItem(actionsFor(verbs, collectionActions), subject, inside)),
    ...pathIfAny(`${collection}/{name}`, pathItem(actionsFor(verbs, itemActions), subject, item)),
    ...Object.fromEntries(below),
  }
}

/** Leaves out a path without operations. */
const pathIfAny = (path: string, item: PathItem): Paths =>
  Object.keys(item).length > 1 ? { [path]: item } : {}

/** The path that lists a namespaced resource in all namespaces. */
function everywhere(resource: ApiResource, path: string): Paths {
  if (!resource.namespaced || !resource.verbs.includes('list')) return {}
  const subject = subjectFor(resource, `${resource.names.kind}ForAllNamespaces`)
  return { [path]: pathItem(['list'], subject, []) }
}
