import type { Metadata } from '../../framework/meta/object.ts'
import { admittedTypesAnnotation } from '../../kcp/annotations.ts'
import { type LocatedType, typeId } from './typechain.ts'

type Annotations = Metadata['annotations']

/** The annotation of a new workspace with these types, whose use was permitted. */
export const admittedTypes = (types: readonly LocatedType[]): string => types.map(typeId).join(',')

/**
 * The types of a workspace, or of its logical cluster, among those that its references lead to now: only those that it was created
 * with. A path may lead to the type of another tenant since, and a type may extend others that its author may not use. All of them
 * without the annotation, as in a logical cluster that comes from kcp.
 */
export function onlyAdmitted(
  types: readonly LocatedType[],
  annotations: Annotations,
): readonly LocatedType[] {
  const admitted = annotations?.[admittedTypesAnnotation]
  if (admitted === undefined) return types
  const ids = new Set(admitted.split(','))
  return types.filter(type => ids.has(typeId(type)))
}
