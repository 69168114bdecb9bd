import type { JSONSchemaProps } from '../../../framework/meta/jsonschema.ts'
import { atomicObject, boolean, listMap, object, rules, string } from '../fields.ts'
import { kcpConditions, labelSelector, workspacePathPattern } from '../fragments.ts'

export const workspacePath = (description: string): JSONSchemaProps =>
  string(description, { pattern: workspacePathPattern })

export const exportReference = (description: string, more: JSONSchemaProps = {}): JSONSchemaProps =>
  object(
    description,
    {
      name: string('The name of the APIExport.'),
      path: workspacePath('The workspace of the APIExport; the own one if unset.'),
    },
    { required: ['name'], ...more },
  )

export const unchangingExport = rules(['self == oldSelf', 'APIExport reference must not be changed'])

export const secretReference = (description: string): JSONSchemaProps =>
  atomicObject(description, {
    name: string('The name of the Secret.'),
    namespace: string('The namespace of the Secret.'),
  })

/** Status of endpoint slices: one URL per group of shards. */
export const endpointSliceStatus = object('What was observed.', {
  conditions: kcpConditions,
  endpoints: listMap(
    'The URLs of the virtual workspace.',
    ['url'],
    object(
      'One URL of the virtual workspace.',
      {
        shards: object(
          'The shards whose objects this URL serves.',
          {
            matchAll: boolean('Every shard.'),
            selector: labelSelector('The shards with these labels.'),
          },
          rules([
            '!(has(self.matchAll) && self.matchAll && has(self.selector))',
            'matchAll and selector are mutually exclusive',
          ]),
        ),
        url: string('The URL.', { minLength: 1 }),
      },
      { required: ['url'] },
    ),
  ),
  shardSelector: string('The label selector of the partition that was used.'),
})
