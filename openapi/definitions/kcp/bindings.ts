import type { JSONSchemaProps } from '../../../framework/meta/jsonschema.ts'
import { crdAge, path } from '../columns.ts'
import type { KindDefinition } from '../definition.ts'
import { kindSchema, list, listMap, object, oneOfStrings, set, string } from '../fields.ts'
import { kcpConditions } from '../fragments.ts'
import {
  claimSelector,
  claimState,
  claimV1,
  claimV2,
  exportReference,
  kcpKind,
  served,
  stored,
  unchangingExport,
} from './fragments.ts'

const description = 'APIBinding makes the resources of an APIExport available in its workspace.'

const reference = (more: JSONSchemaProps = {}): JSONSchemaProps =>
  object(
    'Reference to the API to bind.',
    { export: exportReference('APIExport to bind.') },
    { ...unchangingExport, ...more },
  )

const boundResources = listMap(
  'Resources that are bound.',
  ['group', 'resource'],
  object(
    'A bound resource.',
    {
      group: string('API group of the resource. "" is the core group.'),
      resource: string('Plural name of the resource.'),
      schema: object(
        'APIResourceSchema with which the resource is served.',
        {
          UID: string('UID of the APIResourceSchema.', { minLength: 1 }),
          identityHash: string('Identity hash of the APIExport.', { minLength: 1 }),
          name: string('Name of the APIResourceSchema.', { minLength: 1 }),
        },
        { required: ['UID', 'identityHash', 'name'] },
      ),
      storageVersions: set('Versions in which objects have ever been stored.'),
    },
    { required: ['group', 'resource', 'schema'] },
  ),
)

const status = (claims: Readonly<Record<string, JSONSchemaProps>>): JSONSchemaProps =>
  object('Observed state.', {
    apiExportClusterName: string('Name of the logical cluster of the APIExport.'),
    boundResources,
    conditions: kcpConditions,
    phase: oneOfStrings('Current phase: Binding until the resources are served, then Bound.', [
      '',
      'Binding',
      'Bound',
    ]),
    ...claims,
  })

const v1alpha1 = kindSchema(
  description,
  {
    spec: object(
      'Desired state.',
      {
        permissionClaims: list(
          'Permission claims of the APIExport that are accepted or rejected.',
          claimV1({}, { state: claimState }, ['state']),
        ),
        reference: reference({ oneOf: [{ required: ['export'] }] }),
      },
      { required: ['reference'] },
    ),
    status: status({
      appliedPermissionClaims: list('Permission claims that are in effect.', claimV1()),
      exportPermissionClaims: list('Permission claims that the APIExport requests.', claimV1()),
    }),
  },
  { required: ['spec'] },
)

const claimKeys = ['group', 'resource', 'identityHash']
const selector = claimSelector('Objects to which the claim grants access.')

const v1alpha2 = kindSchema(
  description,
  {
    spec: object(
      'Desired state.',
      {
        permissionClaims: listMap(
          'Permission claims of the APIExport that are accepted or rejected.',
          claimKeys,
          claimV2({ selector, state: claimState }, ['selector', 'state']),
        ),
        reference: reference(),
      },
      { required: ['reference'] },
    ),
    status: status({
      appliedPermissionClaims: listMap(
        'Permission claims that are in effect.',
        claimKeys,
        claimV2({ selector }, ['selector']),
      ),
      exportPermissionClaims: list('Permission claims that the APIExport requests.', claimV2()),
    }),
  },
  { required: ['spec'] },
)

const columns = [crdAge, path('Ready', '.status.conditions[?(@.type=="Ready")].status')]

export const apiBinding: KindDefinition = kcpKind('apis.kcp.io', 'APIBinding', [
  served('v1alpha1', { schema: v1alpha1, columns, status: true }),
  stored('v1alpha2', { schema: v1alpha2, columns, status: true }),
])
