import type { JSONSchemaProps } from '../../framework/meta/jsonschema.ts'

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
