import type { FieldStep } from '../../../framework/lens/fieldcutter.ts'
import type { FieldSteps } from './fieldsteps.ts'
import { isFields } from './values.ts'

/** Several paths as one tree, so that a value is walked once for all of them. */
export interface PathTree {
  /** A path ends here. */
  isEnd: boolean
  readonly keys: Map<string, PathTree>
  each: PathTree | undefined
}

const emptyTree = (): PathTree => ({ isEnd: false, keys: new Map(), each: undefined })

const trees = new WeakMap<readonly FieldSteps[], PathTree>()

/** The tree of a list of paths, made once. */
export function treeOf(paths: readonly FieldSteps[]): PathTree {
  const known = trees.get(paths)
  if (known !== undefined) return known
  const root = emptyTree()
  for (const { steps } of paths) steps.reduce(below, root).isEnd = true
  trees.set(paths, root)
  return root
}

function below(tree: PathTree, step: FieldStep): PathTree {
  if (step === 'each') {
    tree.each ??= emptyTree()
    return tree.each
  }
  const found = tree.keys.get(step.key) ?? emptyTree()
  tree.keys.set(step.key, found)
  return found
}

/** The value without what is at the paths; the same value if there is nothing. */
export function withoutPaths(value: unknown, tree: PathTree): unknown {
  const { each } = tree
  if (Array.isArray(value)) {
    if (each === undefined) return value
    const parts = value.map(part => withoutPaths(part, each))
    return parts.every((part, i) => part === value[i]) ? value : parts
  }
  return isFields(value) ? withoutMembers(value, tree) : value
}

function withoutMembers(value: Readonly<Record<string, unknown>>, { keys, each }: PathTree): unknown {
  const changed = new Map<string, unknown>()
  const removed = new Set<string>()
  const look = (key: string): void => {
    const own = keys.get(key)
    if (own?.isEnd) {
      removed.add(key)
      return
    }
    const [before, below] = [value[key], each === undefined ? value[key] : withoutPaths(value[key], each)]
    const after = own === undefined ? below : withoutPaths(below, own)
    if (after !== before) changed.set(key, after)
  }
  const named = [...keys.keys()].filter(key => Object.hasOwn(value, key))
  for (const key of each === undefined ? named : Object.keys(value)) look(key)
  if (changed.size + removed.size === 0) return value
  const kept = Object.entries(value).filter(([key]) => !removed.has(key))
  return Object.fromEntries(kept.map(([key, part]) => [key, changed.has(key) ? changed.get(key) : part]))
}
