import type { Item } from '../../framework/contract/item.ts'
import type { APIBinding } from '../../kcp/apis.ts'
import type { PathReference } from '../../kcp/references.ts'
import { objectOnce } from '../cache/item.ts'
import { resourceName } from './namingconflicts.ts'

/** A binding, the names of its resources, and the export that it refers to. */
export interface Holder {
  readonly name: string
  readonly resources: readonly string[]
  readonly exported: PathReference | undefined
}

export const holderIn = ({ metadata, spec, status }: APIBinding): Holder => ({
  name: metadata.name ?? '',
  resources: (status?.boundResources ?? []).map(resourceName),
  exported: spec?.reference?.export,
})

const holders = new WeakMap<Item, Holder>()

/** Of a stored binding. Computed once for each of its states: all bindings of a logical cluster may have 128 MiB. */
export function holderOf(item: Item): Holder {
  const known = holders.get(item) ?? holderIn(objectOnce(item))
  holders.set(item, known)
  return known
}
