import type { Metadata } from '../../framework/meta/object.ts'
import { admittedTypesAnnotation } from '../../kcp/annotations.ts'
import { idOf, type LocatedType } from './typechain.ts'

/** Of a Workspace or of its LogicalCluster. */
export type Annotations = Metadata['annotations']

/** The annotation of a new workspace with these types, whose use was permitted. */
export const admittedTypes = (types: readonly LocatedType[]): string => types.map(idOf).join(',')

/** The identifiers of the types that a workspace was created with; undefined where it does not name them, as one that comes from kcp. */
export function admittedIn(annotations: Annotations): ReadonlySet<string> | undefined {
  const admitted = annotations?.[admittedTypesAnnotation]
  return admitted === undefined ? undefined : new Set(admitted.split(','))
}

/**
 * Whether a workspace was created with a type to which its references lead now. A path may lead to the type of another tenant since,
 * and a type may extend others that its author may not use. True for all where the workspace does not name its types.
 */
export function admittedBy(annotations: Annotations): (type: LocatedType) => boolean {
  const admitted = admittedIn(annotations)
  return type => admitted?.has(idOf(type)) ?? true
}
