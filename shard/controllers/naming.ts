import type { CrdCondition, CrdNames, CrdStatus, CustomResourceDefinition } from '../registry/crd.ts'
import { conditionOf, withCondition } from '../registry/crd.ts'

type State = Omit<CrdCondition, 'lastTransitionTime'>

/** Names that are taken in a group: by their plural, singular and short forms, and by kind and list kind. */
interface Taken {
  readonly resources: ReadonlySet<string>
  readonly kinds: ReadonlySet<string>
}

const present = (names: readonly (string | undefined)[]): readonly string[] =>
  names.filter(name => name !== undefined && name !== '') as string[]

function takenBy(others: readonly CustomResourceDefinition[]): Taken {
  const accepted = others.map(({ status }): Partial<CrdNames> => status?.acceptedNames ?? {})
  return {
    resources: new Set(accepted.flatMap(n => present([n.plural, n.singular, ...(n.shortNames ?? [])]))),
    kinds: new Set(accepted.flatMap(n => present([n.kind, n.listKind]))),
  }
}

type Conflict = readonly [reason: string, name: string]

function conflictsOf(names: CrdNames, { resources, kinds }: Taken): readonly Conflict[] {
  const asked: readonly (readonly [string, string | undefined, ReadonlySet<string>])[] = [
    ['PluralConflict', names.plural, resources],
    ['SingularConflict', names.singular, resources],
    ...(names.shortNames ?? []).map(name => ['ShortNamesConflict', name, resources] as const),
    ['KindConflict', names.kind, kinds],
    ['ListKindConflict', names.listKind, kinds],
  ]
  return asked.flatMap(([reason, name, taken]) =>
    name !== undefined && taken.has(name) ? [[reason, name] as const] : [],
  )
}

/**
 * The status that a definition should have, given all definitions of its group in its cluster: those that hold their
 * names already keep them (chapter 40, rule 7.45).
 */
export function namingStatus(
  crd: CustomResourceDefinition,
  group: readonly CustomResourceDefinition[],
): CrdStatus {
  const others = group.filter(other => other.metadata.name !== crd.metadata.name)
  const conflicts = conflictsOf(crd.spec.names, takenBy(others))
  const [first] = conflicts
  const acceptedNames = first === undefined ? crd.spec.names : (crd.status?.acceptedNames ?? {})
  const known = crd.status?.conditions ?? []
  const named = withCondition(known, namesAccepted(conflicts))
  const established = establishedState(crd.status, first === undefined)
  return {
    ...crd.status,
    acceptedNames,
    conditions: established === undefined ? named : withCondition(named, established),
  }
}

function namesAccepted(conflicts: readonly Conflict[]): State {
  const [first] = conflicts
  const type = 'NamesAccepted'
  if (first === undefined)
    return { type, status: 'True', reason: 'NoConflicts', message: 'no conflicts found' }
  const message = conflicts.map(([, name]) => `${JSON.stringify(name)} is already in use`).join(', ')
  return { type, status: 'False', reason: first[0], message }
}

/** Once established, a definition stays so; undefined: as it is. */
function establishedState(status: CrdStatus | undefined, accepted: boolean): State | undefined {
  const type = 'Established'
  if (conditionOf(status, type)?.status === 'True') return undefined
  return accepted
    ? {
        type,
        status: 'True',
        reason: 'InitialNamesAccepted',
        message: 'the initial names have been accepted',
      }
    : { type, status: 'False', reason: 'NotAccepted', message: 'not all names are accepted' }
}
