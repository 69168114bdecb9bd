import type { JSONSchemaProps } from '../../../framework/meta/jsonschema.ts'
import { crdAge, path } from '../columns.ts'
import type { KindDefinition } from '../definition.ts'
import { boolean, kindSchema, list, map, object, oneOfStrings, rules, string } from '../fields.ts'
import { initializerName, kcpConditions, labelSelector, policyRule, workspacePhase } from '../fragments.ts'
import { kcpKind, stored, workspacePath } from './fragments.ts'

const name = { minLength: 1, maxLength: 63, pattern: '^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$' }

const typeReference = (description: string, more: JSONSchemaProps = {}): JSONSchemaProps =>
  object(
    description,
    {
      name: string('The name of the WorkspaceType.', { pattern: '^[a-z]([a-z0-9-]{0,61}[a-z0-9])?' }),
      path: workspacePath('The workspace of the WorkspaceType.'),
    },
    { required: ['name'], ...more },
  )

const mount = object(
  'Another endpoint that is shown in place of a logical cluster.',
  {
    ref: object(
      'The object whose status has the URL of that endpoint.',
      {
        apiVersion: string('Group and version of the object.'),
        kind: string('Kind of the object.'),
        name: string('Name of the object.'),
        namespace: string('Namespace of the object.'),
      },
      {
        required: ['apiVersion', 'kind', 'name'],
        ...rules(
          ['has(oldSelf.apiVersion) == has(self.apiVersion)', 'apiVersion is immutable'],
          ['has(oldSelf.kind) == has(self.kind)', 'kind is immutable'],
          ['has(oldSelf.name) == has(self.name)', 'name is immutable'],
        ),
      },
    ),
    type: oneOfStrings(
      'URL passes requests on to the endpoint. Redirect sends clients to another workspace. Workspace is a link: what is done here is done there. Cluster means URL.',
      ['URL', 'Redirect', 'Workspace', 'Cluster'],
    ),
  },
  { required: ['ref'], ...rules(['self == oldSelf', 'mount is immutable']) },
)

const workspaceSpec = object(
  'What is wanted.',
  {
    URL: string('Where the workspace is reached; set when it is scheduled.'),
    cluster: string(
      'The logical cluster of the workspace; set when it is scheduled.',
      rules(['self == oldSelf', 'cluster is immutable']),
    ),
    location: object('Where the workspace may be put.', {
      selector: labelSelector('The shards that may take it.'),
    }),
    mount,
    type: typeReference(
      'The type of the workspace.',
      rules(
        ['self.name == oldSelf.name', 'name is immutable'],
        ['has(oldSelf.path) == has(self.path)', 'path is immutable'],
        ['!has(oldSelf.path) || !has(self.path) || self.path == oldSelf.path', 'path is immutable'],
      ),
    ),
  },
  {
    default: {},
    ...rules(
      ['!has(oldSelf.URL) || has(self.URL)', 'URL cannot be unset'],
      ['!has(oldSelf.cluster) || has(self.cluster)', 'cluster cannot be unset'],
    ),
  },
)

export const workspace: KindDefinition = kcpKind(
  'tenancy.kcp.io',
  'Workspace',
  [
    stored('v1alpha1', {
      schema: kindSchema(
        'A child of this workspace, with a logical cluster of its own.',
        {
          metadata: { type: 'object', properties: { name: { type: 'string', ...name } } },
          spec: workspaceSpec,
          status: object(
            'What was observed.',
            {
              conditions: kcpConditions,
              initializers: list('What has not yet finished before the workspace is ready.', initializerName),
              phase: workspacePhase,
              terminators: list(
                'What has not yet finished before the workspace is deleted.',
                initializerName,
              ),
            },
            { default: {} },
          ),
        },
        { required: ['spec'] },
      ),
      columns: [
        path('Type', '.spec.type.name'),
        path('Region', ".metadata.labels['region']"),
        path('Phase', '.status.phase'),
        path('URL', '.spec.URL'),
        crdAge,
      ],
      status: true,
    }),
  ],
  ['ws'],
)

const limit = (description: string): JSONSchemaProps =>
  object(
    description,
    {
      none: boolean('No type is allowed.'),
      types: list('The types that are allowed.', typeReference('A type.'), { minItems: 1 }),
    },
    { oneOf: [{ required: ['none'] }, { required: ['types'] }] },
  )

const typeSpec = object('What is wanted.', {
  additionalWorkspaceLabels: map('Labels that new workspaces get.', { type: 'string' }),
  authenticationConfigurations: list(
    'Who else may log in to workspaces of this type.',
    object(
      'One configuration.',
      { name: string('The name of the WorkspaceAuthenticationConfiguration.') },
      { required: ['name'] },
    ),
  ),
  defaultAPIBindingLifecycle: oneOfStrings(
    'InitializeOnly makes default bindings once; Maintain keeps them up to date.',
    ['InitializeOnly', 'Maintain'],
  ),
  defaultAPIBindings: list(
    'The exports that new workspaces bind.',
    object(
      'One export.',
      {
        export: string('The name of the APIExport.'),
        path: workspacePath('The workspace of the APIExport.'),
      },
      { required: ['export'] },
    ),
  ),
  defaultChildWorkspaceType: typeReference('The type of children that do not say theirs.', {
    default: { name: 'universal', path: 'root' },
  }),
  extend: object('Types that this type builds on.', {
    with: list('Types whose initializers and bindings are added.', typeReference('A type.')),
  }),
  initializer: boolean('Whether this type has an initializer that must finish.'),
  initializerPermissions: list('What its initializer may do in the workspace.', policyRule),
  limitAllowedChildren: limit('Which types children may have.'),
  limitAllowedParents: limit('Which types parents may have.'),
  terminator: boolean('Whether this type has a terminator that must finish.'),
  terminatorPermissions: list('What its terminator may do in the workspace.', policyRule),
})

export const workspaceType: KindDefinition = kcpKind('tenancy.kcp.io', 'WorkspaceType', [
  stored('v1alpha1', {
    schema: kindSchema('What workspaces of this type start with, and where they may be.', {
      metadata: {
        type: 'object',
        properties: { name: { type: 'string', not: { enum: ['system', 'any'] }, ...name } },
      },
      spec: typeSpec,
      status: object('What was observed.', {
        conditions: kcpConditions,
        virtualWorkspaces: list(
          'The URLs of the virtual workspaces for initializers and terminators.',
          object(
            'One URL.',
            {
              type: oneOfStrings('What the virtual workspace is for.', ['initializing', 'terminating']),
              url: string('The URL.', { minLength: 1 }),
            },
            { required: ['url'] },
          ),
        ),
      }),
    }),
    columns: [],
    status: true,
  }),
])
