import type { JSONSchemaProps } from '../../../framework/meta/jsonschema.ts'
import { crdAge, path } from '../columns.ts'
import type { KindDefinition } from '../definition.ts'
import { int64, kindSchema, list, listMap, map, object, oneOfStrings, rules, set, string } from '../fields.ts'
import { kcpConditions } from '../fragments.ts'

const expression = (description: string): JSONSchemaProps =>
  string(description, { minLength: 1, maxLength: 2048 })

const verbs = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection'] as const

const source = object(
  'Objects that the View selects from. Exactly one field must be set.',
  {
    apiExport: string(
      'Name of an APIExport in this workspace. Selects from the objects that the virtual workspace of the APIExport shows.',
      { minLength: 1, maxLength: 253 },
    ),
    cluster: oneOfStrings('"." selects from the objects of this workspace.', ['.']),
    workspaces: oneOfStrings(
      '"." selects from the Workspaces of this workspace that the user of the request can access.',
      ['.'],
    ),
  },
  rules([
    '(has(self.apiExport) ? 1 : 0) + (has(self.cluster) ? 1 : 0) + (has(self.workspaces) ? 1 : 0) == 1',
    'exactly one of apiExport, cluster and workspaces must be set',
  ]),
)

const fieldPath: JSONSchemaProps = { type: 'string', minLength: 1, maxLength: 512 }

const resource = object(
  'A resource of the View.',
  {
    group: string('API group of the resource. "" is the core group.', { default: '', maxLength: 253 }),
    resource: string('Plural name of the resource.', {
      minLength: 1,
      maxLength: 63,
      pattern: '^[a-z]([-a-z0-9]*[a-z0-9])?$',
    }),
    version: string(
      'Version in which the View serves the resource. Defaults to the preferred version of the source.',
      {
        minLength: 1,
        maxLength: 63,
      },
    ),
    verbs: set(
      'Verbs that the View allows.',
      { type: 'string', enum: [...verbs] },
      { minItems: 1, maxItems: 8 },
    ),
    where: expression(
      'CEL expression that is true for the objects of the View. Variables: object, cluster (name, path, labels and annotations of its workspace), user (name, uid, groups, extra), and params. An object for which the expression fails is hidden. Selects all objects if unset.',
    ),
    hide: list(
      'Paths of fields that the View does not have: "spec.token", "metadata.annotations[example.com/internal]", "spec.items[*].secret". They cannot be read, selected or written.',
      fieldPath,
      { maxItems: 64 },
    ),
    annotate: map(
      'CEL expressions for annotations that the View adds, by name. They cannot read hidden fields. An object for which an expression fails is hidden.',
      expression('CEL expression with a string as result.'),
      { maxProperties: 32 },
    ),
    writable: list(
      'Paths of the fields that can be written. All fields of the View can be written if unset.',
      fieldPath,
      { maxItems: 64 },
    ),
  },
  { required: ['resource', 'verbs'] },
)

const column = object(
  'A column of tables. Exactly one of jsonPath and expression must be set.',
  {
    name: string('Name of the column.', { minLength: 1, maxLength: 63 }),
    type: oneOfStrings('Type of the column.', ['boolean', 'date', 'integer', 'number', 'string'], {
      default: 'string',
    }),
    jsonPath: string('JSONPath of the value in the object.', { minLength: 1, maxLength: 512 }),
    expression: expression('CEL expression with the value. It can read object and cluster.'),
  },
  {
    required: ['name'],
    ...rules([
      'has(self.jsonPath) != has(self.expression)',
      'exactly one of jsonPath and expression must be set',
    ]),
  },
)

const named = (description: string): JSONSchemaProps =>
  map(description, expression('CEL expression.'), { maxProperties: 8 })

const aggregate = object(
  'An aggregate of the objects of one resource of the View.',
  {
    name: string('Name of the aggregate.', {
      minLength: 1,
      maxLength: 40,
      pattern: '^[a-z]([-a-z0-9]*[a-z0-9])?$',
    }),
    group: string('API group of the resource. "" is the core group.', { default: '', maxLength: 253 }),
    resource: string('Plural name of a resource in resources.', { minLength: 1, maxLength: 63 }),
    by: named(
      'CEL expressions, by name, with a string of at most 256 characters, a number or a bool as result. Objects with equal results are in one group. All objects are one group if unset.',
    ),
    sum: named('CEL expressions for numbers, of which each group has the sum.'),
    min: named('CEL expressions for numbers, of which each group has the least.'),
    max: named('CEL expressions for numbers, of which each group has the greatest.'),
  },
  { required: ['name', 'resource'] },
)

const failure = object(
  'An expression that failed for some objects.',
  {
    field: string('Field of the View with the expression.'),
    count: { type: 'integer', description: 'Number of evaluations that failed since the View was changed.' },
    reason: string('Reason of the last failure.'),
  },
  { required: ['field', 'count', 'reason'] },
)

/** A virtual workspace that is declared by an object. */
export const view: KindDefinition = {
  group: 'views.oriel.dev',
  names: {
    kind: 'View',
    listKind: 'ViewList',
    singular: 'view',
    plural: 'views',
    categories: ['oriel'],
  },
  namespaced: false,
  versions: [
    {
      name: 'v1alpha1',
      served: true,
      storage: true,
      schema: kindSchema(
        'View is a virtual workspace that shows a part of the objects of its source.',
        {
          spec: object(
            'Desired state.',
            {
              source,
              params: map(
                'Values of the variable params in the expressions, by name: strings, numbers, Booleans, or lists of one of them. The expressions are checked against their types.',
                { 'x-kubernetes-preserve-unknown-fields': true },
                { maxProperties: 32 },
              ),
              resources: listMap('Resources of the View.', ['group', 'resource'], resource, {
                minItems: 1,
                maxItems: 32,
              }),
              columns: list('Columns of tables. Defaults to those of the resource.', column, {
                maxItems: 16,
              }),
              aggregate: listMap(
                'Aggregates, which the View serves as objects of the kind Aggregate: one for each group, with the count of its objects.',
                ['name'],
                aggregate,
                { maxItems: 16 },
              ),
            },
            { required: ['source', 'resources'] },
          ),
          status: object('Observed state.', {
            conditions: kcpConditions,
            observedGeneration: int64('metadata.generation that the conditions are about.'),
            endpoints: listMap(
              'Endpoints of the virtual workspace.',
              ['url'],
              object(
                'An endpoint of the virtual workspace.',
                {
                  url: string('URL of the endpoint.', { minLength: 1 }),
                },
                { required: ['url'] },
              ),
            ),
            failures: list('Expressions that failed for some objects. These objects are hidden.', failure),
          }),
        },
        { required: ['spec'] },
      ),
      columns: [
        path('Ready', '.status.conditions[?(@.type=="Ready")].status'),
        path('URL', '.status.endpoints[*].url'),
        crdAge,
      ],
      status: true,
    },
  ],
}
