import { isObject } from '../../framework/formats/values.ts'
import { fieldErrorText } from '../../framework/meta/errors.ts'
import type { KubeObject } from '../../framework/meta/object.ts'
import { annotationErrors, labelErrors } from '../registry/metadata.ts'

const kindOf = (value: unknown): string => (value === null ? '<nil>' : typeof value)

/** A group version as Go prints it. */
const versionText = (value: unknown): string => (typeof value === 'string' ? value : '')

/**
 * A converted object with the metadata that it had, but for its labels and annotations: they are all that a conversion may
 * change. Otherwise what is wrong with it, with `<index>` for its place.
 */
export function restored(original: KubeObject, converted: unknown, apiVersion: string): KubeObject | string {
  const wrong = (why: string): string => `converted object <index>: ${why}`
  if (!isObject(converted)) return wrong(`it is no object but ${kindOf(converted)}`)
  if (converted.apiVersion !== apiVersion)
    return wrong(
      `invalid groupVersion (expected ${apiVersion}, received ${versionText(converted.apiVersion)})`,
    )
  if (converted.kind !== original.kind)
    return wrong(`invalid kind (expected ${original.kind}, received ${versionText(converted.kind)})`)
  const { metadata = {} } = converted
  if (!isObject(metadata)) return wrong('invalid metadata')
  const moved = (['name', 'namespace', 'uid'] as const).find(
    field => (original.metadata[field] ?? '') !== (metadata[field] ?? ''),
  )
  if (moved !== undefined)
    return wrong(
      `must have the same ${moved === 'uid' ? 'UID' : moved}: ${original.metadata[moved] ?? ''} != ${metadata[moved] ?? ''}`,
    )
  const problem = textsProblem(metadata)
  if (problem !== undefined) return `metadata in object <index>: ${problem}`
  const { labels: _l, annotations: _a, ...kept } = original.metadata
  const { labels, annotations } = metadata as KubeObject['metadata']
  const changed = { ...(labels && { labels }), ...(annotations && { annotations }) }
  return { ...converted, metadata: { ...kept, ...changed } } as KubeObject
}

function textsProblem(metadata: Readonly<Record<string, unknown>>): string | undefined {
  for (const field of ['labels', 'annotations'] as const) {
    const texts = metadata[field] ?? {}
    if (!isObject(texts)) return `invalid metadata.${field} of type ${kindOf(texts)} in converted object`
    const [key, value] = Object.entries(texts).find(([, text]) => typeof text !== 'string') ?? []
    if (key !== undefined)
      return `metadata.${field}[${key}] must be a string, but is ${kindOf(value)} in converted object`
    const errors = (field === 'labels' ? labelErrors : annotationErrors)(texts as Record<string, string>)
    if (errors.length > 0) return errors.map(fieldErrorText).join(', ')
  }
  return undefined
}
