import type { OpenAPIV3 } from 'openapi-types'
import { meta, operationScope, operationTag } from './names.ts'
import { type OperationParameter, queryParameters } from './parameters.ts'
import { type GroupVersionKind, reference, type SchemaReference } from './schema.ts'

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
