import type { OpenAPIV3 } from 'openapi-types'
import type { JSONSchemaProps } from '../../framework/meta/jsonschema.ts'
import {
  type GroupVersionKind,
  meta,
  operationScope,
  operationTag,
  reference,
  type SchemaReference,
} from './schema.ts'

/** What an operation does: `x-kubernetes-action`. */
export type OperationAction = keyof typeof queryParameters

interface Media {
  readonly schema: SchemaReference
}
type Content = Readonly<Record<string, Media>>

export interface OperationResponse {
  readonly description: string
  readonly content?: Content
}

/** One HTTP method of one path (chapter 40, rule 8.24). */
export interface Operation {
  readonly tags: readonly string[]
  readonly description: string
  readonly operationId: string
  readonly parameters?: readonly OperationParameter[]
  readonly requestBody?: { readonly required?: true; readonly content: Content }
  readonly responses: Readonly<Record<string, OperationResponse>>
  readonly 'x-kubernetes-action'?: OperationAction
  readonly 'x-kubernetes-group-version-kind'?: GroupVersionKind
}

/** Types of the documents that are answered with. */
const answerTypes = ['application/json', 'application/yaml']
const streamTypes = ['application/json;stream=watch']
/** Patches that every resource takes, and those of built-in kinds (chapter 40, rule 5.1); clients choose by what they find here. */
const patchTypes = [
  'application/apply-patch+yaml',
  'application/json-patch+json',
  'application/merge-patch+json',
]
const builtinPatchTypes = [...patchTypes, 'application/strategic-merge-patch+json']

const contentOf = (types: readonly string[], model: string): Content =>
  Object.fromEntries(types.map(type => [type, { schema: reference(model) }]))

interface Behaviour {
  readonly method: OperationMethod
  /** In operation ids. */
  readonly verb: string
  readonly does: string
  readonly codes: readonly string[]
}
export type OperationMethod = Exclude<`${OpenAPIV3.HttpMethods}`, 'head' | 'options' | 'trace'>

const behaviours: Readonly<Record<OperationAction, Behaviour>> = {
  get: { method: 'get', verb: 'read', does: 'Reads', codes: ['200'] },
  list: { method: 'get', verb: 'list', does: 'Lists or watches', codes: ['200'] },
  post: { method: 'post', verb: 'create', does: 'Creates', codes: ['200', '201', '202'] },
  put: { method: 'put', verb: 'replace', does: 'Replaces', codes: ['200', '201'] },
  patch: { method: 'patch', verb: 'patch', does: 'Changes parts of', codes: ['200', '201'] },
  delete: { method: 'delete', verb: 'delete', does: 'Deletes', codes: ['200', '202'] },
  deletecollection: {
    method: 'delete',
    verb: 'deleteCollection',
    does: 'Deletes several of',
    codes: ['200'],
  },
}

const texts: Readonly<Record<string, string>> = { '200': 'OK', '201': 'Created', '202': 'Accepted' }

/** What an operation is about. */
export interface OperationSubject {
  /** Where the operation is served; differs from `kind`'s for subresources such as scale. */
  readonly group: string
  readonly version: string
  /** `NamespacedConfigMap`, `WidgetScale`, `ConfigMapForAllNamespaces`: the rest of the operation id. */
  readonly id: string
  readonly kind: GroupVersionKind
  /** A custom resource. */
  readonly custom: boolean
  /** The model of one object, and of what the operation answers with. */
  readonly model: string
  readonly answer: string
}

const responseCodes = (codes: readonly string[], content: Content): Operation['responses'] => ({
  ...Object.fromEntries(codes.map(code => [code, { description: texts[code] ?? '', content }])),
  '401': { description: 'Unauthorized' },
})

function bodyOf(
  action: OperationAction,
  { model, custom }: OperationSubject,
): Pick<Operation, 'requestBody'> {
  if (action === 'post' || action === 'put')
    return { requestBody: { required: true, content: contentOf(['application/json'], model) } }
  if (action === 'patch')
    return {
      requestBody: {
        required: true,
        content: contentOf(custom ? patchTypes : builtinPatchTypes, meta('Patch')),
      },
    }
  if (action === 'delete' || action === 'deletecollection')
    return { requestBody: { content: contentOf(['application/json'], meta('DeleteOptions')) } }
  return {}
}

export const methodOf = (action: OperationAction): OperationMethod => behaviours[action].method

export function operationOf(action: OperationAction, subject: OperationSubject): Operation {
  const { group, version, id, kind, answer } = subject
  const { verb, does, codes } = behaviours[action]
  const types = action === 'list' ? [...answerTypes, ...streamTypes] : answerTypes
  const parameters: readonly OperationParameter[] = queryParameters[action]
  return {
    tags: [operationTag(group, version)],
    description: `${does} ${kind.kind}.`,
    operationId: `${verb}${operationScope(group, version)}${id}`,
    ...(parameters.length === 0 ? {} : { parameters }),
    ...bodyOf(action, subject),
    responses: responseCodes(codes, contentOf(types, answer)),
    'x-kubernetes-action': action,
    'x-kubernetes-group-version-kind': kind,
  }
}

/** A GET that is about no kind: discovery and the version. */
export const plainGet = (tag: string, id: string, description: string, model: string): Operation => ({
  tags: [tag],
  description,
  operationId: id,
  responses: responseCodes(['200'], contentOf(answerTypes, model)),
})

/** A query or path parameter of an operation. */
export interface OperationParameter {
  readonly name: string
  readonly in: 'query' | 'path'
  readonly description: string
  readonly required?: true
  readonly schema: JSONSchemaProps & { readonly uniqueItems?: true }
}

const query = (
  name: string,
  type: 'string' | 'integer' | 'boolean',
  description: string,
): OperationParameter => ({
  name,
  in: 'query',
  description,
  schema: { type, uniqueItems: true },
})
const inPath = (name: string, description: string): OperationParameter => ({
  name,
  in: 'path',
  description,
  required: true,
  schema: { type: 'string', uniqueItems: true },
})

export const nameParameter = (kind: string): OperationParameter => inPath('name', `The name of the ${kind}.`)
export const namespaceParameter = inPath('namespace', 'The namespace of the object.')
export const prettyParameter = query('pretty', 'string', 'If `true`, the answer is indented.')

const dryRun = query('dryRun', 'string', 'If `All`, everything is checked and nothing is stored.')
const fieldManager = query('fieldManager', 'string', 'Who makes the change, for managedFields.')
const fieldValidation = query(
  'fieldValidation',
  'string',
  'What unknown and repeated fields are: Ignore, Warn or Strict (an error).',
)
const force = query('force', 'boolean', 'Takes fields from other managers; for server-side apply only.')

const selection: readonly OperationParameter[] = [
  query('continue', 'string', 'The token of the last answer, for the part after it.'),
  query('fieldSelector', 'string', 'Only objects whose fields have these values.'),
  query('labelSelector', 'string', 'Only objects whose labels match.'),
  query('limit', 'integer', 'The most objects to answer with.'),
  query('resourceVersion', 'string', 'How fresh the answer must be, or where a watch starts.'),
  query('resourceVersionMatch', 'string', 'How resourceVersion is meant: Exact or NotOlderThan.'),
  query('sendInitialEvents', 'boolean', 'Whether a watch starts with the objects that exist.'),
  query('timeoutSeconds', 'integer', 'How long the request may take, in seconds.'),
]
const deletion: readonly OperationParameter[] = [
  dryRun,
  query('gracePeriodSeconds', 'integer', 'How long deletion may take, in seconds.'),
  query(
    'ignoreStoreReadErrorWithClusterBreakingPotential',
    'boolean',
    'Deletes an object that cannot be read.',
  ),
  query('orphanDependents', 'boolean', 'Use propagationPolicy.'),
  query('propagationPolicy', 'string', 'What becomes of dependents: Orphan, Background or Foreground.'),
]

/** Query parameters by what the operation does. */
export const queryParameters = {
  get: [],
  list: [
    query('allowWatchBookmarks', 'boolean', 'Whether a watch may tell how far it is without a change.'),
    ...selection,
    query('watch', 'boolean', 'Answers with changes instead of a list.'),
  ],
  post: [dryRun, fieldManager, fieldValidation],
  put: [dryRun, fieldManager, fieldValidation],
  patch: [dryRun, fieldManager, fieldValidation, force],
  delete: deletion,
  deletecollection: [...selection, ...deletion],
} as const satisfies Readonly<Record<string, readonly OperationParameter[]>>
