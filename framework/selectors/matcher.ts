import {
  type FieldSelector,
  integerOf,
  type LabelRequirement,
  type LabelSelector,
  meets,
} from './selectors.ts'

type Labels = Readonly<Record<string, string>>

/** The requirements of one label or field, as sets. */
class Values {
  /** undefined: any value. */
  #allowed: Set<string> | undefined
  #forbidden: Set<string> | undefined

  allow(values: readonly string[]): void {
    const known = this.#allowed
    this.#allowed = new Set(known === undefined ? values : values.filter(value => known.has(value)))
  }

  forbid(values: readonly string[]): void {
    this.#forbidden ??= new Set()
    for (const value of values) this.#forbidden.add(value)
  }

  has(value: string): boolean {
    return this.#allowed?.has(value) !== false && this.#forbidden?.has(value) !== true
  }
}

/**
 * All requirements of one label: each is compared once, however often it is repeated. A selector may have thousands of labels, of
 * which most have no values: sets are made when they are needed.
 */
class LabelTerms {
  #values: Values | undefined
  /** The greatest `gt`, the least `lt`, and such as compare with no integer. */
  #comparisons: Map<'gt' | 'lt', LabelRequirement> | undefined
  /** Whether objects without the label are excluded. */
  isRequired = false
  /** Whether objects with the label are excluded. */
  isForbidden = false

  add(requirement: LabelRequirement): void {
    const { operator, values } = requirement
    this.isRequired ||= operator !== 'notin' && operator !== '!'
    this.isForbidden ||= operator === '!'
    if (operator === 'in') this.#valued().allow(values)
    else if (operator === 'notin') this.#valued().forbid(values)
    else if (operator === 'gt' || operator === 'lt') this.#compare(operator, requirement)
  }

  #valued(): Values {
    this.#values ??= new Values()
    return this.#values
  }

  #compare(operator: 'gt' | 'lt', requirement: LabelRequirement): void {
    this.#comparisons ??= new Map()
    const [now, next] = [this.#comparisons.get(operator), requirement].map(each =>
      integerOf(each?.values[0] ?? ''),
    )
    const isNarrower =
      next === undefined || (now !== undefined && (operator === 'gt' ? next > now : next < now))
    const isFirst = !this.#comparisons.has(operator)
    if (isFirst || (now !== undefined && isNarrower)) this.#comparisons.set(operator, requirement)
  }

  /** Whether an object with this label is selected. */
  match(labels: Labels, value: string): boolean {
    if (this.isForbidden || this.#values?.has(value) === false) return false
    for (const comparison of this.#comparisons?.values() ?? []) if (!meets(labels, comparison)) return false
    return true
  }
}

function termsOf({ requirements }: LabelSelector): ReadonlyMap<string, LabelTerms> {
  const terms = new Map<string, LabelTerms>()
  for (const requirement of requirements) {
    const { key } = requirement
    const own = terms.get(key) ?? new LabelTerms()
    terms.set(key, own)
    own.add(requirement)
  }
  return terms
}

/**
 * `matchesLabels` for many objects: the work for one object depends on the number of its labels, not on that of the
 * requirements.
 */
export function labelMatcher(selector: LabelSelector): (labels: Labels) => boolean {
  const terms = termsOf(selector)
  const required = [...terms.values()].filter(({ isRequired }) => isRequired).length
  return labels => {
    let missing = required
    for (const key in labels) {
      const own = terms.get(key)
      if (own === undefined) continue
      if (!own.match(labels, labels[key] ?? '')) return false
      if (own.isRequired) missing--
    }
    return missing === 0
  }
}

/** `matchesFields` for many objects: each field is read once. */
export function fieldMatcher(selector: FieldSelector): (textOf: (field: string) => string) => boolean {
  const fields = new Map<string, Values>()
  for (const { field, operator, value } of selector.requirements) {
    const own = fields.get(field) ?? new Values()
    fields.set(field, own)
    if (operator === '=') own.allow([value])
    else own.forbid([value])
  }
  return textOf => {
    for (const [field, values] of fields) if (!values.has(textOf(field))) return false
    return true
  }
}
