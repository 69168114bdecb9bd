import type { ApiResource } from '../../framework/index.ts'
import { clusterAnnotation } from '../../kcp/index.ts'
import type { JSONSchemaProps } from '../../openapi/index.ts'
import { type FieldSteps, parseFieldPath } from './fields/fieldsteps.ts'
import { canHave, isListKey } from './fields/schema.ts'
import type { Problems } from './problems.ts'
import type { ViewResource } from './types.ts'

/** Fields of metadata that a View can hide or make writable. */
const metadataFields = ['labels', 'annotations', 'finalizers', 'ownerReferences']

const syntax =
  'must be a path of fields, such as spec.token, metadata.annotations[example.com/a] or spec.items[*].secret'

interface PathsOf {
  readonly source: ApiResource
  readonly field: string
  readonly problems: Problems
}

function pathsOf(texts: readonly string[], { source, field, problems }: PathsOf): readonly FieldSteps[] {
  return texts.flatMap((text, i) => {
    const path = parseFieldPath(text)
    const problem = path === undefined ? syntax : (problemOf(path) ?? unknownIn(path, source))
    if (problem !== undefined)
      problems.add('expression', `${field}[${i}]`, `${JSON.stringify(text)} ${problem}`)
    return path === undefined || problem !== undefined ? [] : [path]
  })
}

function problemOf({ steps: [first, second, third] }: FieldSteps): string | undefined {
  if (first === 'each' || first === undefined) return syntax
  if (first.key === 'apiVersion' || first.key === 'kind') return 'is part of every object'
  if (first.key !== 'metadata') return undefined
  if (third !== undefined && third !== 'each' && third.key === clusterAnnotation)
    return 'is needed to tell objects of several logical clusters apart'
  const isPossible = second !== undefined && second !== 'each' && metadataFields.includes(second.key)
  return isPossible ? undefined : `is not one of ${metadataFields.map(name => `metadata.${name}`).join(', ')}`
}

/** A field that the schema does not have is a mistake, or has another name in this version: then nothing would be hidden. */
function unknownIn(path: FieldSteps, { version, names, openapi }: ApiResource): string | undefined {
  const [first] = path.steps
  if (first !== 'each' && first?.key === 'metadata') return undefined
  const isKnown = canHave(openapi as JSONSchemaProps, path)
  return isKnown ? undefined : `is not a field of ${names.kind} in version ${version}`
}

/** The paths of `hide`. With the data of a Secret, its write-only `stringData` is hidden, which would overwrite it. */
export function hiddenPaths(
  { hide = [] }: ViewResource,
  source: ApiResource,
  field: string,
  problems: Problems,
): readonly FieldSteps[] {
  const { group, names, openapi } = source
  const paths = pathsOf(hide, { source, field: `${field}.hide`, problems })
  for (const [i, path] of paths.entries())
    if (isListKey(openapi as JSONSchemaProps, path))
      problems.add('expression', `${field}.hide[${i}]`, `${JSON.stringify(path.text)} is a key of its list`)
  const hasData = paths.some(({ steps: [first] }) => first !== 'each' && first?.key === 'data')
  const isSecret = group === '' && names.plural === 'secrets'
  const stringData = parseFieldPath('stringData')
  return isSecret && hasData && stringData ? [...paths, stringData] : paths
}

/** The paths of `writable`; undefined: all fields. */
export const writablePaths = (
  { writable }: ViewResource,
  source: ApiResource,
  field: string,
  problems: Problems,
): readonly FieldSteps[] | undefined =>
  writable && pathsOf(writable, { source, field: `${field}.writable`, problems })
