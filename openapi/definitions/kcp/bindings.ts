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

const description = 'Makes the resources of an APIExport available in this workspace.'

const reference = (more: JSONSchemaProps = {}): JSONSchemaProps =>
  object(
    'What is bound.',
    { export: exportReference('The export that is bound.') },
    { ...unchangingExport, ...more },
  )

const boundResources = listMap(
  'The resources that are bound.',
  ['group', 'resource'],
  object(
    'One bound resource.',
    {
      group: string('The API group of the resource; "" is the core group.'),
      resource: string('The plural name of the resource.'),
      schema: object(
        'The schema it is served with.',
        {
          UID: string('The UID of the APIResourceSchema.', { minLength: 1 }),
          identityHash: string('The identity of the export.', { minLength: 1 }),
          name: string('The name of the APIResourceSchema.', { minLength: 1 }),
        },
        { required: ['UID', 'identityHash', 'name'] },
      ),
      storageVersions: set('The versions in which objects were ever stored.'),
    },
    { required: ['group', 'resource', 'schema'] },
  ),
)

const status = (claims: Readonly<Record<string, JSONSchemaProps>>): JSONSchemaProps =>
  object('What was observed.', {
    apiExportClusterName: string('The logical cluster of the export.'),
    boundResources,
    conditions: kcpConditions,
    phase: oneOfStrings('Whether the resources are served: Binding, then Bound.', ['', 'Binding', 'Bound']),
    ...claims,
  })

const v1alpha1 = kindSchema(
  description,
  {
    spec: object(
      'What is wanted.',
      {
        permissionClaims: list(
          'What the consumer decided about the claims of the export.',
          claimV1({}, { state: claimState }, ['state']),
        ),
        reference: reference({ oneOf: [{ required: ['export'] }] }),
      },
      { required: ['reference'] },
    ),
    status: status({
      appliedPermissionClaims: list('The claims that are in effect.', claimV1()),
      exportPermissionClaims: list('The claims of the export.', claimV1()),
    }),
  },
  { required: ['spec'] },
)

const claimKeys = ['group', 'resource', 'identityHash']
const selector = claimSelector('The objects that the provider gets to see.')

const v1alpha2 = kindSchema(
  description,
  {
    spec: object(
      'What is wanted.',
      {
        permissionClaims: listMap(
          'What the consumer decided about the claims of the export.',
          claimKeys,
          claimV2({ selector, state: claimState }, ['selector', 'state']),
        ),
        reference: reference(),
      },
      { required: ['reference'] },
    ),
    status: status({
      appliedPermissionClaims: listMap(
        'The claims that are in effect.',
        claimKeys,
        claimV2({ selector }, ['selector']),
      ),
      exportPermissionClaims: list('The claims of the export.', claimV2()),
    }),
  },
  { required: ['spec'] },
)

const columns = [crdAge, path('Ready', '.status.conditions[?(@.type=="Ready")].status')]

export const apiBinding: KindDefinition = kcpKind('apis.kcp.io', 'APIBinding', [
  served('v1alpha1', { schema: v1alpha1, columns, status: true }),
  stored('v1alpha2', { schema: v1alpha2, columns, status: true }),
])
