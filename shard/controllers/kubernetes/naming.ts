import type { Informer, Informers } from '../../../framework/contract/informer.ts'
import type { ClusterName } from '../../../framework/meta/object.ts'
import type { DefinedNames } from '../../../kcp/apis.ts'
import { nameKey, namesInUse } from '../../bindings/namesinuse.ts'
import { kindName, namesOf } from '../../bindings/namingconflicts.ts'
import {
  asCrd,
  type CrdCondition,
  type CrdStatus,
  type CustomResourceDefinition,
  conditionOf,
  withCondition,
} from '../../registry/crd.ts'

type State = Omit<CrdCondition, 'lastTransitionTime'>

type Names = Pick<ReadonlySet<string>, 'has'>

/** Names in use in a group: plurals, singulars and short names; kinds and list kinds. */
interface Taken {
  readonly resources: Names
  readonly kinds: Names
}

/** The names that a definition cannot have: those that other definitions of its group have, and those of bound resources. */
export function takenNames(
  definitions: Informer,
  informers: Informers,
): (cluster: ClusterName, crd: CustomResourceDefinition) => Taken {
  const { bindingsWith } = namesInUse(informers)
  const byName = definitions.index(({ key, object }) => {
    const crd = asCrd(object)
    return acceptedNames(crd).map(name => nameKey(key.cluster, crd.spec.group, name))
  })
  return (cluster, { metadata, spec: { group } }) => {
    const isTaken = (name: string): boolean =>
      byName(nameKey(cluster, group, name)).some(({ key }) => key.name !== metadata.name) ||
      bindingsWith(cluster, group, [name]).length > 0
    return { resources: { has: isTaken }, kinds: { has: kind => isTaken(kindName(kind)) } }
  }
}

/** The names that a definition has (`namesOf`). */
export const acceptedNames = ({ status }: CustomResourceDefinition): readonly string[] =>
  namesOf(status?.acceptedNames ?? {})

/** Whether names of the definition were refused, which others may release. */
export const isWaitingForNames = (crd: CustomResourceDefinition): boolean =>
  conditionOf(crd.status, 'NamesAccepted')?.status !== 'True'

/** A name that is already in use: reason and message of the condition. */
interface Conflict {
  readonly reason: string
  readonly message: string
}

interface Naming {
  readonly accepted: Partial<DefinedNames>
  readonly conflicts: readonly Conflict[]
}

const inUse = (reason: string, names: readonly string[]): readonly Conflict[] => {
  const texts = names.map(name => `${JSON.stringify(name)} is already in use`)
  if (texts.length === 0) return []
  return [{ reason, message: texts.length === 1 ? texts.join() : `[${texts.join(', ')}]` }]
}

/** Each name is accepted or rejected by itself; a rejected name keeps the value that was accepted before. */
function accept(names: DefinedNames, before: Partial<DefinedNames>, { resources, kinds }: Taken): Naming {
  const taken = (name: string | undefined, by: Names): readonly string[] =>
    name !== undefined && by.has(name) ? [name] : []
  const shortNames = (names.shortNames ?? []).flatMap(name => taken(name, resources))
  const conflicts = {
    plural: inUse('PluralConflict', taken(names.plural, resources)),
    singular: inUse('SingularConflict', taken(names.singular, resources)),
    shortNames: inUse('ShortNamesConflict', shortNames),
    kind: inUse('KindConflict', taken(names.kind, kinds)),
    listKind: inUse('ListKindConflict', taken(names.listKind, kinds)),
  }
  const accepted = Object.entries(names).map(([field, value]) => {
    const conflict = field in conflicts && conflicts[field as keyof typeof conflicts].length > 0
    return [field, conflict ? before[field as keyof DefinedNames] : value] as const
  })
  return {
    accepted: Object.fromEntries(accepted.filter(([, value]) => value !== undefined)),
    conflicts: Object.values(conflicts).flat(),
  }
}

/**
 * The status of a definition, given the names that others of its group have in its logical cluster. Names that were
 * accepted before stay accepted (rules.md 7.45; apiextensions-apiserver `pkg/controller/status/naming_controller.go`).
 */
export function namingStatus(crd: CustomResourceDefinition, taken: Taken): CrdStatus {
  const naming = accept(crd.spec.names, crd.status?.acceptedNames ?? {}, taken)
  const named = withCondition(crd.status?.conditions ?? [], namesAccepted(naming))
  const established = establishedState(crd.status, naming.conflicts.length === 0)
  return {
    ...crd.status,
    acceptedNames: naming.accepted,
    conditions: established === undefined ? named : withCondition(named, established),
  }
}

/** With several conflicts, the condition has the last one. */
function namesAccepted({ conflicts }: Naming): State {
  const conflict = conflicts.at(-1)
  const type = 'NamesAccepted'
  return conflict === undefined
    ? { type, status: 'True', reason: 'NoConflicts', message: 'no conflicts found' }
    : { type, status: 'False', ...conflict }
}

/** An established definition stays established; undefined: no change. */
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
