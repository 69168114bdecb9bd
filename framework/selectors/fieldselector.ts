import { badRequest } from '../meta/errors.ts'
import type { FieldRequirement, FieldSelector } from './selectors.ts'

/** Reads the query parameter `fieldSelector`, in which no field with no value is nothing; throws 400 with Kubernetes' words (chapter 40, section 4.5). */
export function parseFieldSelector(text: string): FieldSelector {
  const requirements = splitTerms(text)
    .filter(term => term !== '')
    .map(term => parseTerm(term, text))
  return { requirements: requirements.filter(({ field, value }) => field !== '' || value !== '') }
}

/** Splits at commas that are not escaped. */
function splitTerms(text: string): readonly string[] {
  return text.match(/(?:\\[\s\S]|[^\\,]|\\$)+/g) ?? []
}

function parseTerm(term: string, selector: string): FieldRequirement {
  const found = /!=|==?/.exec(term)
  if (found === null) throw badRequest(`invalid selector: '${selector}'; can't understand '${term}'`)
  const operator = found[0] === '!=' ? '!=' : '='
  const value = unescapeValue(term.slice(found.index + found[0].length))
  return { field: term.slice(0, found.index), operator, value }
}

function unescapeValue(value: string): string {
  return value.replace(/\\([\s\S]?)|=/g, (sequence, escaped: string | undefined) => {
    if (escaped === undefined) throw badRequest('invalid field selector: unescaped character in value: 61')
    if (!'\\,='.includes(escaped) || escaped === '') {
      throw badRequest(`invalid field selector: invalid escape sequence: ${sequence}`)
    }
    return escaped
  })
}
