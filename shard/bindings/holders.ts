import { oncePerItem } from '../../framework/contract/onceperitem.ts'
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

/** Of a stored binding. */
export const holderOf = oncePerItem(item => holderIn(objectOnce(item)))
