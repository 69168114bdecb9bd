import type { JSONSchemaProps } from '../../../framework/meta/jsonschema.ts'
import { int32, kindSchema, object, string } from '../fields.ts'

/** `autoscaling/v1 Scale`: the body of every `/scale` (chapter 40, rule 7.59). */
export const scaleSchema: JSONSchemaProps = kindSchema('How many there are and should be.', {
  spec: object('What is wanted.', { replicas: int32('The wanted number.', { minimum: 0 }) }),
  status: object('What was observed.', {
    replicas: int32('The actual number.'),
    selector: string('The label selector of what is counted.'),
  }),
})
