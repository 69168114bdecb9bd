import type { MergeSchema } from './mergeschema.ts'

/** `metav1.ObjectMeta` as merges see it: which lists are keyed, which values are whole. */
const text: MergeSchema = { type: 'string' }
const integer: MergeSchema = { type: 'integer' }
const time: MergeSchema = { type: 'string', format: 'date-time' }
const texts: MergeSchema = { type: 'object', additionalProperties: text }

/** Go's fields that are never absent are empty when nothing is said. */
const required: MergeSchema = { type: 'string', default: '' }

const ownerReference: MergeSchema = {
  type: 'object',
  properties: {
    apiVersion: required,
    blockOwnerDeletion: { type: 'boolean' },
    controller: { type: 'boolean' },
    kind: required,
    name: required,
    uid: required,
  },
  'x-kubernetes-map-type': 'atomic',
}

const managedFieldsEntry: MergeSchema = {
  type: 'object',
  properties: {
    apiVersion: text,
    fieldsType: text,
    fieldsV1: { type: 'object' },
    manager: text,
    operation: text,
    subresource: text,
    time,
  },
}

export const objectMetaSchema: MergeSchema = {
  type: 'object',
  properties: {
    annotations: texts,
    creationTimestamp: time,
    deletionGracePeriodSeconds: integer,
    deletionTimestamp: time,
    finalizers: {
      type: 'array',
      items: text,
      'x-kubernetes-list-type': 'set',
      'x-kubernetes-patch-strategy': 'merge',
    },
    generateName: text,
    generation: integer,
    labels: texts,
    managedFields: { type: 'array', items: managedFieldsEntry, 'x-kubernetes-list-type': 'atomic' },
    name: text,
    namespace: text,
    ownerReferences: {
      type: 'array',
      items: ownerReference,
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['uid'],
      'x-kubernetes-patch-strategy': 'merge',
      'x-kubernetes-patch-merge-key': 'uid',
    },
    resourceVersion: text,
    selfLink: text,
    uid: text,
  },
}
