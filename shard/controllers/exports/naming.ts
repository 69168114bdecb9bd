import type { ResourceNames } from '../../../framework/contract/apis.ts'
import type { Informers } from '../../../framework/contract/informer.ts'
import type { ClusterName } from '../../../framework/meta/object.ts'
import type { APIBinding } from '../../../kcp/apis.ts'
import { resources } from '../../../kcp/resources.ts'
import type { DefinedNames } from '../../../openapi/resource.ts'
import { definitionOf } from '../../../openapi/resource.ts'
import {
  type CrdCondition,
  type CrdStatus,
  type CustomResourceDefinition,
  conditionOf,
  withCondition,
} from '../../registry/crd.ts'

type State = Omit<CrdCondition, 'lastTransitionTime'>

/** Names in use in a group: plurals, singulars and short names; kinds and list kinds. */
interface Taken {
  readonly resources: ReadonlySet<string>
  readonly kinds: ReadonlySet<string>
}

const present = (names: readonly (string | undefined)[]): readonly string[] =>
  names.filter(name => name !== undefined && name !== '') as string[]

function takenBy(others: readonly CustomResourceDefinition[], bound: readonly ResourceNames[]): Taken {
  const defined = others.map(({ status }): Partial<DefinedNames> => status?.acceptedNames ?? {})
  const accepted = [...defined, ...bound]
  return {
    resources: new Set(accepted.flatMap(n => present([n.plural, n.singular, ...(n.shortNames ?? [])]))),
    kinds: new Set(accepted.flatMap(n => present([n.kind, n.listKind]))),
  }
}

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
  const taken = (name: string | undefined, by: ReadonlySet<string>): readonly string[] =>
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
 * The status of a definition, given all definitions of its group in its logical cluster and the bound names. Names
 * that were accepted before stay accepted (rules.md 7.45; apiextensions-apiserver
 * `pkg/controller/status/naming_controller.go`).
 */
export function namingStatus(
  crd: CustomResourceDefinition,
  group: readonly CustomResourceDefinition[],
  bound: readonly ResourceNames[] = [],
): CrdStatus {
  const others = group.filter(other => other.metadata.name !== crd.metadata.name)
  const naming = accept(crd.spec.names, crd.status?.acceptedNames ?? {}, takenBy(others, bound))
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

/** The names of bound resources in a group of a logical cluster: definitions cannot have the same names. */
export function boundNames(
  informers: Informers,
): (cluster: ClusterName, group: string) => readonly ResourceNames[] {
  const bindings = informers.for(resources.apiBindings)
  const bySchemaUid = informers.for(resources.apiResourceSchemas).index(({ meta }) => [meta.uid])
  return (cluster, group) =>
    bindings
      .list(cluster)
      .flatMap(({ object }) => (object as APIBinding).status?.boundResources ?? [])
      .filter(bound => bound.group === group)
      .flatMap(({ schema }) => bySchemaUid(schema.UID).map(({ object }) => definitionOf(object).names))
}
