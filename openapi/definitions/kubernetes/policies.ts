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

const paramKind = atomicObject('The kind of the objects that parametrize the policy.', {
  apiVersion: string('Its group and version.'),
  kind: string('Its kind.'),
})

const commonFields = {
  failurePolicy,
  matchConditions: matchConditions('More conditions on requests.'),
  matchConstraints: matchResources('Which requests the policy is about.'),
  paramKind,
  variables: listMap(
    'Values that expressions may use.',
    ['name'],
    atomicObject(
      'One value, known as variables.<name>.',
      {
        expression: string('A CEL expression that makes it.'),
        name: string('Its name.'),
      },
      { required: ['name', 'expression'] },
    ),
    mergedBy('name'),
  ),
} satisfies Record<string, JSONSchemaProps>

const validation = object(
  'One condition on requests.',
  {
    expression: string('A CEL expression that must be true.'),
    message: string('What is said when it is false.'),
    messageExpression: string('A CEL expression that makes the message.'),
    reason: string('The reason of the refusal, such as Forbidden or Invalid.'),
  },
  { required: ['expression'] },
)

const auditAnnotation = object(
  'One annotation of the audit event.',
  {
    key: string('Its key.'),
    valueExpression: string('A CEL expression that makes its value; null leaves it out.'),
  },
  { required: ['key', 'valueExpression'] },
)

const expressionWarning = object(
  'What looks wrong about one expression.',
  { fieldRef: string('The path of the expression.'), warning: string('What looks wrong.') },
  { required: ['fieldRef', 'warning'] },
)

/** `<apiVersion>/<kind>`, or `<unset>`. */
function paramKindOf(spec: Readonly<Record<string, unknown>>): string {
  const { apiVersion, kind } = fieldsOf(spec.paramKind)
  return spec.paramKind === undefined ? '<unset>' : `${textOf(apiVersion)}/${textOf(kind)}`
}
const paramKindColumn = computed(['ParamKind', 'string', 'The kind of its parameters.'], o =>
  paramKindOf(specOf(o)),
)

export const validatingAdmissionPolicies = policyKind({
  kind: 'ValidatingAdmissionPolicy',
  plural: 'validatingadmissionpolicies',
  status: true,
  schema: kindSchema('CEL expressions that may refuse requests, where a binding says so.', {
    spec: object('What is wanted.', {
      ...commonFields,
      auditAnnotations: atomicList('Annotations that audit events get.', auditAnnotation),
      validations: atomicList('Conditions that requests must meet.', validation),
    }),
    status: object('What was observed.', {
      conditions: metaConditions('Whether the policy works.'),
      observedGeneration: int64('The metadata.generation that was looked at.'),
      typeChecking: object('What was found when types were checked.', {
        expressionWarnings: atomicList('What looks wrong.', expressionWarning),
      }),
    }),
  }),
  columns: [
    computed(['Validations', 'integer', 'How many conditions there are.'], o =>
      sizeOf(specOf(o).validations),
    ),
    paramKindColumn,
    age,
  ],
})

const celChange = (description: string): JSONSchemaProps =>
  object(description, { expression: string('A CEL expression that makes the change.') })

const mutation = object(
  'One change.',
  {
    applyConfiguration: celChange('Merges fields, as server-side apply does.'),
    jsonPatch: celChange('Applies JSON patch operations.'),
    patchType: string('Which one is given: ApplyConfiguration or JSONPatch.'),
  },
  { required: ['patchType'] },
)

export const mutatingAdmissionPolicies = policyKind({
  kind: 'MutatingAdmissionPolicy',
  plural: 'mutatingadmissionpolicies',
  schema: kindSchema('CEL expressions that change objects, where a binding says so.', {
    spec: object('What is wanted.', {
      ...commonFields,
      mutations: atomicList('The changes, in order.', mutation),
      reinvocationPolicy,
    }),
  }),
  columns: [
    computed(['Mutations', 'integer', 'How many changes there are.'], o => sizeOf(specOf(o).mutations)),
    paramKindColumn,
    age,
  ],
})

const bindingFields = {
  matchResources: matchResources('Which of the requests of the policy are covered; all if unset.'),
  paramRef: atomicObject('The parameters that are used.', {
    name: string('Their name; excludes selector.'),
    namespace: string('Their namespace; that of the request if unset.'),
    parameterNotFoundAction: string('What is done when there are none: Allow or Deny.', {
      default: 'Deny',
    }),
    selector: labelSelector('Their labels; excludes name.'),
  }),
  policyName: string('The policy.'),
} satisfies Record<string, JSONSchemaProps>

/** `<namespace>/<name>` or `<name>` of the parameters; `*` when a selector finds them; `<unset>`. */
function paramRefOf(spec: Readonly<Record<string, unknown>>): string {
  if (spec.paramRef === undefined) return '<unset>'
  const { namespace, name } = fieldsOf(spec.paramRef)
  const prefix = textOf(namespace) === '' ? '' : `${textOf(namespace)}/`
  return `${prefix}${textOf(name) || '*'}`
}
const bindingColumns: KindVersion['columns'] = [
  path('PolicyName', '.spec.policyName', 'The policy.'),
  computed(['ParamRef', 'string', 'The parameters that are used.'], o => paramRefOf(specOf(o))),
  age,
]

export const validatingAdmissionPolicyBindings = policyKind({
  kind: 'ValidatingAdmissionPolicyBinding',
  plural: 'validatingadmissionpolicybindings',
  schema: kindSchema('Puts a ValidatingAdmissionPolicy into effect.', {
    spec: object('What is wanted.', {
      ...bindingFields,
      validationActions: set('What happens when a condition is not met: Deny, Warn, Audit.'),
    }),
  }),
  columns: bindingColumns,
})

export const mutatingAdmissionPolicyBindings = policyKind({
  kind: 'MutatingAdmissionPolicyBinding',
  plural: 'mutatingadmissionpolicybindings',
  schema: kindSchema('Puts a MutatingAdmissionPolicy into effect.', {
    spec: object('What is wanted.', bindingFields),
  }),
  columns: bindingColumns,
})
