import { fieldElement, isList, isMembers, type PathElement, printElement } from '../fieldpath/fieldpath.ts'
import type { MergeType } from './types.ts'

/** The printed paths of all atomic fields of a configuration, such as `.spec.args`. */
export const atomicPaths = (type: MergeType, value: unknown): readonly string[] =>
  atomicsBelow(type, value, '')

function atomicsBelow(type: MergeType, value: unknown, path: string): readonly string[] {
  const at = (element: PathElement): string => path + printElement(element)
  if (isMembers(value) && type.map !== undefined) {
    const { map } = type
    const below = Object.entries(value).flatMap(([key, member]) => {
      const known = map.declares(key) ? map.member(key) : undefined
      return known === undefined ? [] : atomicsBelow(known, member, at(fieldElement(key)))
    })
    return map.isAtomic ? [path, ...below] : below
  }
  if (!isList(value) || type.list === undefined) return []
  const { list } = type
  const below = value.flatMap((item, i) => atomicsBelow(list.item, item, at(`i:${i}`)))
  return list.isAtomic ? [path, ...below] : below
}
