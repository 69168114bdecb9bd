import type { KindDefinition, KindVersion } from '../definition.ts'

/** Every kcp kind is cluster-scoped and in category `kcp` (chapter 20, section 2.0). */
export const kcpKind = (
  group: string,
  kind: string,
  versions: readonly KindVersion[],
  shortNames?: readonly string[],
): KindDefinition => {
  const singular = kind.toLowerCase()
  return {
    group,
    names: {
      kind,
      listKind: `${kind}List`,
      singular,
      plural: `${singular}s`,
      categories: ['kcp'],
      ...(shortNames === undefined ? {} : { shortNames }),
    },
    namespaced: false,
    versions,
  }
}

type Shape = Pick<KindVersion, 'schema' | 'columns' | 'status'>

export const stored = (name: string, shape: Shape): KindVersion => ({
  name,
  served: true,
  storage: true,
  ...shape,
})
export const served = (name: string, shape: Shape): KindVersion => ({
  name,
  served: true,
  storage: false,
  ...shape,
})
