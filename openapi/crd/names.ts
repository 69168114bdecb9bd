import { listAt, textAt } from '../../framework/formats/values.ts'
import type { FieldError } from '../../framework/meta/errors.ts'
import { invalidValue, required } from '../../framework/meta/fielderror.ts'
import { dns1035LabelErrors } from '../../framework/meta/names.ts'

const labelErrors = (path: string, value: string): readonly FieldError[] => {
  const problems = dns1035LabelErrors(value)
  return problems.length === 0 ? [] : [invalidValue(path, value, problems.join(','))]
}

const kindErrors = (path: string, value: string): readonly FieldError[] => {
  const problems = dns1035LabelErrors(value.toLowerCase())
  const text = `may have mixed case, but should otherwise match: ${problems.join(',')}`
  return problems.length === 0 ? [] : [invalidValue(path, value, text)]
}

/** The names that must be there, by their checks. */
const single = [
  ['plural', labelErrors],
  ['singular', labelErrors],
  ['kind', kindErrors],
  ['listKind', kindErrors],
] as const

export const missingNames = (names: unknown, path: string): readonly FieldError[] =>
  single.filter(([name]) => textAt(names, name) === '').map(([name]) => required(`${path}.${name}`))

/** The form of names of kinds and resources; absent ones are not looked at (chapter 40, rule 7.3). */
export function nameErrors(names: unknown, path: string): readonly FieldError[] {
  const kind = textAt(names, 'kind')
  return [
    ...single.flatMap(([name, check]) =>
      textAt(names, name) === '' ? [] : check(`${path}.${name}`, textAt(names, name)),
    ),
    ...listedErrors(names, path, 'shortNames'),
    ...(kind !== '' && kind === textAt(names, 'listKind')
      ? [invalidValue(`${path}.listKind`, kind, 'kind and listKind may not be the same')]
      : []),
    ...listedErrors(names, path, 'categories'),
  ]
}

const listedErrors = (names: unknown, path: string, list: string): readonly FieldError[] =>
  listAt(names, list).flatMap((name, i) => labelErrors(`${path}.${list}[${i}]`, String(name)))
