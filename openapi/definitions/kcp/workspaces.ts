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
      name: string('Name of the WorkspaceType.', { pattern: '^[a-z]([a-z0-9-]{0,61}[a-z0-9])?' }),
      path: workspacePath('Path of the workspace of the WorkspaceType, such as root:org.'),
    },
    { required: ['name'], ...more },
  )

const mount = object(
  'Endpoint that is mounted in place of a logical cluster. Immutable.',
  {
    ref: object(
      'Object whose status.URL is the URL of the endpoint.',
      {
        apiVersion: string('API group and version of the referenced object.'),
        kind: string('Kind of the referenced object.'),
        name: string('Name of the referenced object.'),
        namespace: string('Namespace of the referenced object.'),
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
      'Type of the mount. URL forwards requests to the endpoint. Redirect redirects clients to another workspace. Workspace forwards requests to another workspace. Cluster is the same as URL.',
      ['URL', 'Redirect', 'Workspace', 'Cluster'],
    ),
  },
  { required: ['ref'], ...rules(['self == oldSelf', 'mount is immutable']) },
)

const workspaceSpec = object(
  'Desired state.',
  {
    URL: string('URL of the workspace. Set when the workspace is scheduled.'),
    cluster: string(
      'Name of the logical cluster of the workspace. Set when the workspace is scheduled.',
      rules(['self == oldSelf', 'cluster is immutable']),
    ),
    location: object('Constraints on the shard of the workspace.', {
      selector: labelSelector('Label selector for the shards to which the workspace can be scheduled.'),
    }),
    mount,
    type: typeReference(
      'Type of the workspace. Immutable.',
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
        'Workspace is a child of the workspace that contains it. It is a logical cluster, or a mount.',
        {
          metadata: { type: 'object', properties: { name: { type: 'string', ...name } } },
          spec: workspaceSpec,
          status: object(
            'Observed state.',
            {
              conditions: kcpConditions,
              initializers: list(
                'Initializers that have not completed. The workspace is ready when none is left.',
                initializerName,
              ),
              phase: workspacePhase,
              terminators: list(
                'Terminators that have not completed. The workspace is deleted when none is left.',
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
      none: boolean('Allows no types. Mutually exclusive with types.'),
      types: list(
        'Types that are allowed. Mutually exclusive with none.',
        typeReference('Reference to a WorkspaceType.'),
        { minItems: 1 },
      ),
    },
    { oneOf: [{ required: ['none'] }, { required: ['types'] }] },
  )

const typeSpec = object('Desired state.', {
  additionalWorkspaceLabels: map('Labels that are added to new workspaces of this type.', { type: 'string' }),
  authenticationConfigurations: list(
    'Additional authentication for workspaces of this type.',
    object(
      'Reference to a WorkspaceAuthenticationConfiguration.',
      { name: string('Name of the WorkspaceAuthenticationConfiguration.') },
      { required: ['name'] },
    ),
  ),
  defaultAPIBindingLifecycle: oneOfStrings(
    'Lifecycle of the default APIBindings. InitializeOnly creates them once, Maintain also keeps them up to date.',
    ['InitializeOnly', 'Maintain'],
  ),
  defaultAPIBindings: list(
    'APIExports that are bound in new workspaces of this type.',
    object(
      'Reference to an APIExport.',
      {
        export: string('Name of the APIExport.'),
        path: workspacePath('Path of the workspace of the APIExport.'),
      },
      { required: ['export'] },
    ),
  ),
  defaultChildWorkspaceType: typeReference('Type of child workspaces that do not specify a type.', {
    default: { name: 'universal', path: 'root' },
  }),
  extend: object('WorkspaceTypes that this type extends.', {
    with: list(
      'WorkspaceTypes whose initializers and default APIBindings are added to those of this type.',
      typeReference('Reference to a WorkspaceType.'),
    ),
  }),
  initializer: boolean(
    'Whether this type has an initializer, which must complete before a workspace is ready.',
  ),
  initializerPermissions: list('Permissions of the initializer of this type in workspaces.', policyRule),
  limitAllowedChildren: limit('Types that child workspaces can have.'),
  limitAllowedParents: limit('Types that the parent workspace can have.'),
  terminator: boolean(
    'Whether this type has a terminator, which must complete before a workspace is deleted.',
  ),
  terminatorPermissions: list('Permissions of the terminator of this type in workspaces.', policyRule),
})

export const workspaceType: KindDefinition = kcpKind('tenancy.kcp.io', 'WorkspaceType', [
  stored('v1alpha1', {
    schema: kindSchema(
      'WorkspaceType defines how workspaces of this type are initialized, and where they can be created.',
      {
        metadata: {
          type: 'object',
          properties: { name: { type: 'string', not: { enum: ['system', 'any'] }, ...name } },
        },
        spec: typeSpec,
        status: object('Observed state.', {
          conditions: kcpConditions,
          virtualWorkspaces: list(
            'URLs of the virtual workspaces for initializers and terminators of this type.',
            object(
              'A URL of a virtual workspace.',
              {
                type: oneOfStrings('Type of the virtual workspace.', ['initializing', 'terminating']),
                url: string('URL of the virtual workspace.', { minLength: 1 }),
              },
              { required: ['url'] },
            ),
          ),
        }),
      },
    ),
    columns: [],
    status: true,
  }),
])
