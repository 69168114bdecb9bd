import { randomInt } from 'node:crypto'
import type { Action } from '../../framework/contract/authorizer.ts'
import { type PolicyRule, ruleAllows } from './policyrule.ts'

/** So many rules are compared faster than they are indexed. */
const few = 32

const allowsEveryName = (rule: PolicyRule, action: Action): boolean =>
  (rule.resourceNames ?? []).length === 0 && ruleAllows(rule, action)

/** The indexes of the rules that were asked. */
export class RuleIndexes {
  readonly #indexes = new WeakMap<readonly PolicyRule[], RuleIndex>()
  #isBuiltInTurn = false

  /** Whether one of the rules allows the action. For many rules, the cost hardly depends on their number. */
  anyAllows(rules: readonly PolicyRule[], action: Action): boolean {
    return this.#any(rules, action, ruleAllows)
  }

  /** Whether one of the rules allows the action on all objects of its collection: a rule without names. */
  anyAllowsEveryName(rules: readonly PolicyRule[], action: Action): boolean {
    return this.#any(rules, action, allowsEveryName)
  }

  #any(rules: readonly PolicyRule[], action: Action, allows: typeof ruleAllows): boolean {
    const index = rules.length <= few || rules.length > mostRules ? undefined : this.#of(rules)
    return index === undefined ? rules.some(rule => allows(rule, action)) : index.allows(action, allows)
  }

  /** One index is built in a turn of the event loop, because a user may have many large roles. */
  #of(rules: readonly PolicyRule[]): RuleIndex | undefined {
    const known = this.#indexes.get(rules)
    if (known !== undefined || this.#isBuiltInTurn) return known
    this.#isBuiltInTurn = true
    setImmediate(() => {
      this.#isBuiltInTurn = false
    })
    const index = new RuleIndex(rules)
    this.#indexes.set(rules, index)
    return index
  }
}

/** An entry is the hash of a combination times this number, plus the position of its rule. */
const mostRules = 2 ** 21

/**
 * The rules of one role by their combinations of verb, group, resource and name, or of verb and path. Rules with many more
 * combinations than words are compared each time.
 */
class RuleIndex {
  readonly #rules: readonly PolicyRule[]
  /** Sorted. */
  readonly #entries: Float64Array
  readonly #broad: readonly PolicyRule[]
  /** The lengths of paths before a final `*`. */
  readonly #prefixes = new Set<number>()

  constructor(rules: readonly PolicyRule[]) {
    this.#rules = rules
    const broad: PolicyRule[] = []
    const entries: number[] = []
    for (const [position, rule] of rules.entries()) {
      const add = (hash: number): void => void entries.push(hash * mostRules + position)
      if (isBroad(rule)) broad.push(rule)
      else this.#add(rule, add)
    }
    this.#broad = broad
    this.#entries = new Float64Array(entries).sort()
  }

  allows(action: Action, allows: typeof ruleAllows): boolean {
    for (const hash of action.resource === undefined ? this.#pathsFor(action) : combinationsFor(action))
      if (this.#allowsWith(hash, action, allows)) return true
    return this.#broad.some(rule => allows(rule, action))
  }

  /** Whether a rule with a combination of this hash allows the action. Different combinations may have one hash. */
  #allowsWith(hash: number, action: Action, allows: typeof ruleAllows): boolean {
    const first = hash * mostRules
    for (let i = lowerBound(this.#entries, first); ; i++) {
      const position = (this.#entries[i] ?? Number.POSITIVE_INFINITY) - first
      const rule = position < mostRules ? this.#rules[position] : undefined
      if (rule === undefined) return false
      if (allows(rule, action)) return true
    }
  }

  #add(rule: PolicyRule, add: (hash: number) => void): void {
    addCombinations(rule, add)
    for (const url of rule.nonResourceURLs ?? []) {
      const isPrefix = url.endsWith('*')
      const path = isPrefix ? url.replace(/\*+$/, '') : url
      if (isPrefix) this.#prefixes.add(path.length)
      for (const verb of rule.verbs) add(pathHash(isPrefix ? prefix : wholePath, verb, hashOf(path)))
    }
  }

  *#pathsFor({ verb, path = '' }: Action): Generator<number> {
    const hashes = prefixHashes(path)
    for (const each of [verb, '*']) {
      yield pathHash(wholePath, each, hashOf(path))
      for (const length of this.#prefixes) {
        const hash = hashes[length]
        if (hash !== undefined) yield pathHash(prefix, each, hash)
      }
    }
  }
}

/** Combinations that are indexed for each word of a rule. */
const perWord = 4
const always = 16

function isBroad(rule: PolicyRule): boolean {
  const { verbs, apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] } = rule
  const onResources = apiGroups.length * resources.length * Math.max(1, resourceNames.length)
  const count = verbs.length * (onResources + nonResourceURLs.length)
  const names = resourceNames.length + nonResourceURLs.length
  return count > Math.max(always, perWord * (verbs.length + apiGroups.length + resources.length + names))
}

function addCombinations(rule: PolicyRule, add: (hash: number) => void): void {
  const { verbs, apiGroups = [], resources = [], resourceNames = [] } = rule
  for (const group of apiGroups)
    for (const resource of resources) {
      const place = placeHash(group, resource)
      for (const verb of verbs) {
        const act = joined(place, hashOf(verb))
        if (resourceNames.length === 0) add(joined(act, anyName))
        else for (const name of resourceNames) add(joined(act, nameHash(name)))
      }
    }
}

/** The combinations of the rules that allow an action on a resource: those for which `ruleAllows` is true. */
function* combinationsFor({ verb, resource }: Action): Generator<number> {
  const { group = '', resource: plural = '', subresource = '', name = '' } = resource ?? {}
  const resources = subresource === '' ? [plural, '*'] : [`${plural}/${subresource}`, `*/${subresource}`, '*']
  for (const each of [group, '*'])
    for (const kind of resources) {
      const place = placeHash(each, kind)
      for (const act of [joined(place, hashOf(verb)), joined(place, anyVerb)]) {
        yield joined(act, anyName)
        yield joined(act, nameHash(name))
      }
    }
}

/** Tenants choose the words, and must not know which have the same hash. */
const seed = randomInt(2 ** 32)
const prime = 0x01000193

/** FNV-1a. */
function hashOf(word: string): number {
  let hash = seed
  for (let i = 0; i < word.length; i++) hash = Math.imul(hash ^ word.charCodeAt(i), prime)
  return hash
}

/** The hashes of all beginnings of a text, by their length. */
function prefixHashes(text: string): readonly number[] {
  const hashes = [hashOf('')]
  for (let i = 0; i < text.length; i++) hashes.push(Math.imul((hashes[i] ?? 0) ^ text.charCodeAt(i), prime))
  return hashes
}

/** Mixes two hashes as MurmurHash3 does; not negative. */
function joined(a: number, b: number): number {
  let hash = Math.imul(a ^ Math.imul(b, 0xcc9e2d51), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}

const [anyName, oneName, wholePath, prefix] = [1, 2, 3, 4]

const anyVerb = hashOf('*')
const placeHash = (group: string, resource: string): number => joined(hashOf(group), hashOf(resource))
const nameHash = (name: string): number => joined(oneName, hashOf(name))

const pathHash = (kind: typeof wholePath | typeof prefix, verb: string, path: number): number =>
  joined(joined(kind, hashOf(verb)), path)

/** The index of the first entry that is not less than `entry`. */
function lowerBound(entries: Float64Array, entry: number): number {
  let [low, high] = [0, entries.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((entries[middle] ?? 0) < entry) low = middle + 1
    else high = middle
  }
  return low
}
