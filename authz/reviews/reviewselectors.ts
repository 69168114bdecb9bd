import { isMembers } from '../../framework/json/values.ts'
import type { FieldError } from '../../framework/meta/errors.ts'
import { tooLong, tooMany } from '../../framework/meta/fielderror.ts'
import { labelValueErrors, qualifiedNameErrors } from '../../framework/meta/names.ts'
import { longestSelector, parseFieldSelector, parseLabelSelector } from '../../framework/selectors/parse.ts'
import type { FieldRequirement, LabelRequirement, Selectors } from '../../framework/selectors/selectors.ts'
import { record, text, texts } from '../rbac/rbacsource.ts'

// The selectors of access reviews, as text or as requirements (KEP 4601).

/** One requirement of a review. Its types are validated before. */
interface Requirement {
  readonly key: string
  readonly operator: string
  readonly values: readonly string[]
}

interface Given {
  readonly raw: string
  readonly requirements: readonly Requirement[]
}

/** undefined: there is no such selector. */
function givenIn(attributes: unknown, name: keyof Selectors): Given | undefined {
  const selector = record(attributes)[name]
  if (!isMembers(selector)) return undefined
  const list = Array.isArray(selector.requirements) ? selector.requirements.map(record) : []
  const requirements = list.map(({ key, operator, values }) => ({
    key: text(key),
    operator: text(operator),
    values: texts(values),
  }))
  return { raw: text(selector.rawSelector), requirements }
}

/** Of one selector: each is checked and compared in one step. More than a URL can have, because views in front of a shard review those. */
const mostRequirements = 10_000
const mostValues = 10_000

const names = ['fieldSelector', 'labelSelector'] as const
const path = 'spec.resourceAttributes'

/** Errors of the selectors of a review. Unknown operators are not errors. */
export const selectorErrors = (attributes: unknown): readonly FieldError[] =>
  names.flatMap(name => {
    const given = givenIn(attributes, name)
    return given === undefined ? [] : givenErrors(given, name)
  })

function givenErrors({ raw, requirements }: Given, name: keyof Selectors): readonly FieldError[] {
  const at = `${path}.${name}`
  const detail = `when ${at} is specified, requirements or rawSelector is required`
  if (raw === '' && requirements.length === 0)
    return [{ type: 'FieldValueRequired', field: `${at}.requirements`, detail }]
  if (raw.length > longestSelector) return [tooLong(`${at}.rawSelector`, longestSelector)]
  if (requirements.length > mostRequirements)
    return [tooMany(`${at}.requirements`, requirements.length, mostRequirements)]
  const values = requirements.reduce((sum, each) => sum + each.values.length, 0)
  if (values > mostValues) return [tooMany(`${at}.requirements[*].values`, values, mostValues)]
  const both = 'may not specified at the same time as requirements'
  return [
    ...(raw !== '' && requirements.length > 0 ? [invalid(`${at}.rawSelector`, raw, both)] : []),
    ...requirements.flatMap((requirement, i) =>
      name === 'fieldSelector'
        ? [
            ...keyMissing(requirement, `${at}.requirements[${i}]`),
            ...valuesErrors(requirement, `${at}.requirements[${i}]`),
          ]
        : [
            ...valuesErrors(requirement, `${at}.requirements[${i}]`),
            ...labelErrors(requirement, `${at}.requirements[${i}]`),
          ],
    ),
  ]
}

const invalid = (field: string, value: string, detail: string): FieldError => ({
  type: 'FieldValueInvalid',
  field,
  value,
  detail,
})

const keyMissing = ({ key }: Requirement, at: string): readonly FieldError[] =>
  key === '' ? [{ type: 'FieldValueRequired', field: `${at}.key`, detail: 'must be specified' }] : []

function valuesErrors({ operator, values }: Requirement, at: string): readonly FieldError[] {
  const field = `${at}.values`
  if ((operator === 'In' || operator === 'NotIn') && values.length === 0)
    return [
      { type: 'FieldValueRequired', field, detail: "must be specified when `operator` is 'In' or 'NotIn'" },
    ]
  if ((operator === 'Exists' || operator === 'DoesNotExist') && values.length > 0) {
    const detail = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
    return [{ type: 'FieldValueForbidden', field, detail }]
  }
  return []
}

const labelErrors = ({ key, values }: Requirement, at: string): readonly FieldError[] => [
  ...qualifiedNameErrors(key).map(problem => invalid(`${at}.key`, key, problem)),
  ...values.flatMap((value, i) =>
    labelValueErrors(value).map(problem => invalid(`${at}.values[${i}]`, value, problem)),
  ),
]

/**
 * The selectors of a review, and their errors: a selector with an error is ignored, so that the review asks for more.
 */
export interface ReadSelectors extends Selectors {
  readonly problems: readonly string[]
}

/** The selectors of a review without errors. */
export function selectorsIn(attributes: unknown): ReadSelectors {
  const fields = readAs(givenIn(attributes, 'fieldSelector'), parseFieldSelector, fieldTerm)
  const labels = readAs(givenIn(attributes, 'labelSelector'), parseLabelSelector, labelTerm)
  return {
    ...(fields.requirements.length > 0 && { fieldSelector: fields }),
    ...(labels.requirements.length > 0 && { labelSelector: labels }),
    problems: [...problemOf('fieldSelector', fields), ...problemOf('labelSelector', labels)],
  }
}

interface Read<T> {
  readonly requirements: readonly T[]
  readonly isWhole: boolean
}

function readAs<T>(
  given: Given | undefined,
  parse: (text: string) => { readonly requirements: readonly T[] },
  termOf: (requirement: Requirement) => T | undefined,
): Read<T> {
  const { raw = '', requirements = [] } = given ?? {}
  if (requirements.length > 0) {
    const terms = requirements.map(termOf).filter(term => term !== undefined)
    return { requirements: terms, isWhole: terms.length === requirements.length }
  }
  try {
    return { ...parse(raw), isWhole: true }
  } catch {
    return { requirements: [], isWhole: false }
  }
}

function fieldTerm({ key, operator, values }: Requirement): FieldRequirement | undefined {
  const [value, ...more] = values
  if (value === undefined || more.length > 0 || (operator !== 'In' && operator !== 'NotIn')) return undefined
  return { field: key, operator: operator === 'In' ? '=' : '!=', value }
}

const operators: Readonly<Record<string, LabelRequirement['operator']>> = {
  In: 'in',
  NotIn: 'notin',
  Exists: 'exists',
  DoesNotExist: '!',
}

function labelTerm({ key, operator, values }: Requirement): LabelRequirement | undefined {
  const known = Object.hasOwn(operators, operator) ? operators[operator] : undefined
  return known && { key, operator: known, values }
}

function problemOf(name: keyof Selectors, { isWhole, requirements }: Read<unknown>): readonly string[] {
  if (isWhole) return []
  return [`${path}.${name} ${requirements.length > 0 ? 'partially ignored' : 'ignored'} due to parse error`]
}
