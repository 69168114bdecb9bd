import type { JSONSchemaProps } from '../../../framework/meta/jsonschema.ts'
import { age, computed, fieldsOf, path, sizeOf, specOf, textOf } from '../columns.ts'
import type { KindDefinition, KindVersion } from '../definition.ts'
import {
  atomicList,
  atomicObject,
  int64,
  kindSchema,
  listMap,
  mergedBy,
  object,
  set,
  string,
} from '../fields.ts'
import { labelSelector, metaConditions } from '../fragments.ts'
import { builtin } from './kind.ts'
import { failurePolicy, matchConditions, matchResources, reinvocationPolicy } from './webhooks.ts'

const policyKind = (
  of: Pick<KindVersion, 'schema' | 'columns'> & {
    readonly kind: string
    readonly plural: string
    readonly status?: boolean
  },
): KindDefinition => builtin({ group: 'admissionregistration.k8s.io', categories: ['api-extensions'], ...of })

const paramKind = atomicObject(
  'Kind of the parameters of the policy. The policy has no parameters if unset.',
  {
    apiVersion: string('API group and version of the parameters.'),
    kind: string('Kind of the parameters.'),
  },
)

const commonFields = {
  failurePolicy,
  matchConditions: matchConditions('Conditions that must all be true for the policy to be evaluated.'),
  matchConstraints: matchResources('Operations on resources to which the policy applies.'),
  paramKind,
  variables: listMap(
    'Variables that other expressions of the policy can use.',
    ['name'],
    atomicObject(
      'A variable, available as variables.<name>.',
      {
        expression: string('CEL expression that returns the value of the variable.'),
        name: string('Name of the variable.'),
      },
      { required: ['name', 'expression'] },
    ),
    mergedBy('name'),
  ),
} satisfies Record<string, JSONSchemaProps>

const validation = object(
  'A validation of requests.',
  {
    expression: string('CEL expression that must return true.'),
    message: string('Message of the rejection if the expression returns false.'),
    messageExpression: string('CEL expression that returns the message. Takes precedence over message.'),
    reason: string('Reason of the rejection, such as Forbidden or Invalid.'),
  },
  { required: ['expression'] },
)

const auditAnnotation = object(
  'An annotation of the audit event.',
  {
    key: string('Key of the audit annotation.'),
    valueExpression: string(
      'CEL expression that returns the value. The annotation is omitted if it returns null.',
    ),
  },
  { required: ['key', 'valueExpression'] },
)

const expressionWarning = object(
  'A warning about the types in an expression.',
  {
    fieldRef: string('Path of the field of the expression.'),
    warning: string('Warning about the types in the expression.'),
  },
  { required: ['fieldRef', 'warning'] },
)

/** `<apiVersion>/<kind>`, or `<unset>`. */
function paramKindOf(spec: Readonly<Record<string, unknown>>): string {
  const { apiVersion, kind } = fieldsOf(spec.paramKind)
  return spec.paramKind === undefined ? '<unset>' : `${textOf(apiVersion)}/${textOf(kind)}`
}
const paramKindColumn = computed(['ParamKind', 'string', 'Kind of the parameters of the policy.'], o =>
  paramKindOf(specOf(o)),
)

export const validatingAdmissionPolicies = policyKind({
  kind: 'ValidatingAdmissionPolicy',
  plural: 'validatingadmissionpolicies',
  status: true,
  schema: kindSchema(
    'ValidatingAdmissionPolicy rejects requests that do not pass its CEL expressions. It is in effect where a ValidatingAdmissionPolicyBinding binds it.',
    {
      spec: object('Desired state.', {
        ...commonFields,
        auditAnnotations: atomicList(
          'Annotations that are added to the audit event of the request.',
          auditAnnotation,
        ),
        validations: atomicList('Validations that requests must pass.', validation),
      }),
      status: object('Observed state.', {
        conditions: metaConditions('Conditions of the policy.'),
        observedGeneration: int64('metadata.generation that was last observed.'),
        typeChecking: object('Result of type checking.', {
          expressionWarnings: atomicList('Warnings about the types in expressions.', expressionWarning),
        }),
      }),
    },
  ),
  columns: [
    computed(['Validations', 'integer', 'Number of validations.'], o => sizeOf(specOf(o).validations)),
    paramKindColumn,
    age,
  ],
})

const celChange = (description: string): JSONSchemaProps =>
  object(description, { expression: string('CEL expression that returns the change.') })

const mutation = object(
  'A mutation of the object.',
  {
    applyConfiguration: celChange('Merges an apply configuration into the object, like server-side apply.'),
    jsonPatch: celChange('Applies a JSON patch to the object.'),
    patchType: string('Type of the mutation: ApplyConfiguration or JSONPatch.'),
  },
  { required: ['patchType'] },
)

export const mutatingAdmissionPolicies = policyKind({
  kind: 'MutatingAdmissionPolicy',
  plural: 'mutatingadmissionpolicies',
  schema: kindSchema(
    'MutatingAdmissionPolicy modifies objects with CEL expressions. It is in effect where a MutatingAdmissionPolicyBinding binds it.',
    {
      spec: object('Desired state.', {
        ...commonFields,
        mutations: atomicList('Mutations, applied in order.', mutation),
        reinvocationPolicy,
      }),
    },
  ),
  columns: [
    computed(['Mutations', 'integer', 'Number of mutations.'], o => sizeOf(specOf(o).mutations)),
    paramKindColumn,
    age,
  ],
})

const bindingFields = {
  matchResources: matchResources(
    'Restricts the operations to which the policy applies. No restriction if unset.',
  ),
  paramRef: atomicObject('Reference to the parameters of the policy.', {
    name: string('Name of the parameters. Mutually exclusive with selector.'),
    namespace: string('Namespace of the parameters. Defaults to the namespace of the request.'),
    parameterNotFoundAction: string(
      'How requests are handled if no parameters are found: Allow or Deny. Defaults to Deny.',
      {
        default: 'Deny',
      },
    ),
    selector: labelSelector('Label selector for the parameters. Mutually exclusive with name.'),
  }),
  policyName: string('Name of the policy.'),
} satisfies Record<string, JSONSchemaProps>

/** `<namespace>/<name>` or `<name>` of the parameters, `*` for a selector, or `<unset>`. */
function paramRefOf(spec: Readonly<Record<string, unknown>>): string {
  if (spec.paramRef === undefined) return '<unset>'
  const { namespace, name } = fieldsOf(spec.paramRef)
  const prefix = textOf(namespace) === '' ? '' : `${textOf(namespace)}/`
  return `${prefix}${textOf(name) || '*'}`
}
const bindingColumns: KindVersion['columns'] = [
  path('PolicyName', '.spec.policyName', 'Name of the policy.'),
  computed(['ParamRef', 'string', 'Reference to the parameters of the policy.'], o => paramRefOf(specOf(o))),
  age,
]

export const validatingAdmissionPolicyBindings = policyKind({
  kind: 'ValidatingAdmissionPolicyBinding',
  plural: 'validatingadmissionpolicybindings',
  schema: kindSchema('ValidatingAdmissionPolicyBinding puts a ValidatingAdmissionPolicy into effect.', {
    spec: object('Desired state.', {
      ...bindingFields,
      validationActions: set('Actions that are taken if a validation fails: Deny, Warn, Audit.'),
    }),
  }),
  columns: bindingColumns,
})

export const mutatingAdmissionPolicyBindings = policyKind({
  kind: 'MutatingAdmissionPolicyBinding',
  plural: 'mutatingadmissionpolicybindings',
  schema: kindSchema('MutatingAdmissionPolicyBinding puts a MutatingAdmissionPolicy into effect.', {
    spec: object('Desired state.', bindingFields),
  }),
  columns: bindingColumns,
})
