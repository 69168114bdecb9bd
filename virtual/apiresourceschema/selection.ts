import { type Item, matchesFields, matchesLabels, type Selection } from '../../framework/index.ts'

/** Schemas are in no namespace; their name is the only field to select by. */
export const isSelected = ({ key, meta }: Item, { labels, fields }: Selection): boolean =>
  (labels === undefined || matchesLabels(labels, meta.labels)) &&
  matchesFields(fields, field => (field === 'metadata.name' ? key.name : ''))
