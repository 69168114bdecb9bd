import type { WorkspaceTypeSelector } from '../../../kcp/tenancy.ts'
import { type LocatedType, typeName } from '../../tenancy/directory.ts'

const names = (types: readonly LocatedType[]): readonly string[] => types.map(typeName)

const printed = (list: readonly string[]): string => `[${list.toSorted().join(' ')}]`

/** One side of the relation: whose limit it is, and what it says about the other side. */
interface Side {
  readonly own: readonly LocatedType[]
  readonly others: readonly LocatedType[]
  readonly limitOf: (type: LocatedType) => WorkspaceTypeSelector | undefined
  readonly word: 'parent' | 'child'
}

/**
 * Why a workspace of the child type may not be in one of the parent type: every type of each chain may limit the other
 * side, any type of the other chain may satisfy it. Chains end with the type itself (chapter 20, section 3.2, step D).
 */
export const limitProblems = (
  parents: readonly LocatedType[],
  children: readonly LocatedType[],
): readonly string[] => [
  ...problemsOf({
    own: children,
    others: parents,
    limitOf: ({ type }) => type.spec?.limitAllowedParents,
    word: 'parent',
  }),
  ...problemsOf({
    own: parents,
    others: children,
    limitOf: ({ type }) => type.spec?.limitAllowedChildren,
    word: 'child',
  }),
]

function problemsOf({ own, others, limitOf, word }: Side): readonly string[] {
  const self = own.at(-1)
  const other = others.at(-1)
  if (self === undefined || other === undefined) return []
  return own.flatMap(type => {
    const limit = limitOf(type)
    const subject = typeName(self)
    if (limit?.none === true) return [`workspace type ${subject} cannot have any ${word}`]
    const allowed = limit?.types?.map(({ path, name }) => `${path ?? ''}:${name}`)
    if (allowed === undefined || names(others).some(name => allowed.includes(name))) return []
    const via = type === self ? '' : ` extends ${typeName(type)}, which`
    return [
      `workspace type ${subject}${via} only allows ${printed(allowed)} ${word} workspaces, ` +
        `but ${word} type ${typeName(other)} only implements ${printed(names(others))}`,
    ]
  })
}
