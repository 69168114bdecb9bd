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

/** The `x-kubernetes-action` of an operation. */
export type OperationAction = keyof typeof queryParameters

interface Media {
  readonly schema: SchemaReference
}
type Content = Readonly<Record<string, Media>>

export interface OperationResponse {
  readonly description: string
  readonly content?: Content
}

/** One HTTP method of a path (rules.md 8.24). */
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

/** Media types of responses. */
const answerTypes = ['application/json', 'application/yaml']
const streamTypes = ['application/json;stream=watch']
/** Patch types of all resources, and of built-in kinds (rules.md 5.1). Clients choose a patch type from these. */
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

/** The resource of an operation. */
export interface OperationSubject {
  /** Group and version of the path; they differ from those of `kind` for subresources such as scale. */
  readonly group: string
  readonly version: string
  /** The suffix of the operation ID: `NamespacedConfigMap`, `WidgetScale`, `ConfigMapForAllNamespaces`. */
  readonly id: string
  readonly kind: GroupVersionKind
  /** A custom resource. */
  readonly custom: boolean
  /** The models of the object and of the response. */
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

/** A GET without a kind: discovery and version. */
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

export const nameParameter = (kind: string): OperationParameter => inPath('name', `Name of the ${kind}.`)
export const namespaceParameter = inPath('namespace', 'Namespace of the object.')
export const prettyParameter = query('pretty', 'string', 'If true, the output is indented.')

const dryRun = query('dryRun', 'string', 'If All, the request is processed, but nothing is stored.')
const fieldManager = query('fieldManager', 'string', 'Name of the field manager that makes the change.')
const fieldValidation = query(
  'fieldValidation',
  'string',
  'How unknown and duplicate fields are handled: Ignore, Warn or Strict.',
)
const force = query(
  'force',
  'boolean',
  'Whether to take over fields of other field managers. For server-side apply only.',
)

const selection: readonly OperationParameter[] = [
  query('continue', 'string', 'Continue token of the previous chunk.'),
  query('fieldSelector', 'string', 'Selector that restricts the objects by their fields.'),
  query('labelSelector', 'string', 'Selector that restricts the objects by their labels.'),
  query('limit', 'integer', 'Maximum number of objects in the response.'),
  query('resourceVersion', 'string', 'Resource version of the list, or from which a watch starts.'),
  query('resourceVersionMatch', 'string', 'How resourceVersion is applied to a list: Exact or NotOlderThan.'),
  query('sendInitialEvents', 'boolean', 'Whether a watch starts with events for the existing objects.'),
  query('timeoutSeconds', 'integer', 'Timeout of the request, in seconds.'),
]
const deletion: readonly OperationParameter[] = [
  dryRun,
  query('gracePeriodSeconds', 'integer', 'Time before the object is deleted, in seconds.'),
  query(
    'ignoreStoreReadErrorWithClusterBreakingPotential',
    'boolean',
    'If true, also deletes an object that cannot be read from the store.',
  ),
  query('orphanDependents', 'boolean', 'Deprecated. Use propagationPolicy.'),
  query(
    'propagationPolicy',
    'string',
    'How dependents are garbage collected: Orphan, Background or Foreground.',
  ),
]

/** Query parameters by action. */
const queryParameters = {
  get: [],
  list: [
    query('allowWatchBookmarks', 'boolean', 'Whether a watch can send bookmark events.'),
    ...selection,
    query('watch', 'boolean', 'Whether to watch for changes instead of listing objects.'),
  ],
  post: [dryRun, fieldManager, fieldValidation],
  put: [dryRun, fieldManager, fieldValidation],
  patch: [dryRun, fieldManager, fieldValidation, force],
  delete: deletion,
  deletecollection: [...selection, ...deletion],
} as const satisfies Readonly<Record<string, readonly OperationParameter[]>>
