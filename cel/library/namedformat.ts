import { formatCheck, requestUriError } from '../../framework/formats/formats.ts'
import {
  dns1035LabelErrors,
  dns1123LabelErrors,
  dns1123SubdomainErrors,
  labelValueErrors,
  qualifiedNameErrors,
} from '../../framework/meta/names.ts'
import { declare, type FunctionDecl, member, overload } from '../values/declaration.ts'
import { listOf, opaqueType, optionalOf, stringType } from '../values/type.ts'
import { type OpaqueValue, Optional } from '../values/value.ts'

const formatType = opaqueType('kubernetes.NamedFormat')

/** A named format: its validation, and for costs the length of an equivalent regular expression. */
export class NamedFormat implements OpaqueValue {
  readonly opaque = formatType
  readonly name: string
  readonly maxRegexSize: number
  readonly errors: (text: string) => readonly string[]
  constructor(name: string, maxRegexSize: number, errors: (text: string) => readonly string[]) {
    this.name = name
    this.maxRegexSize = maxRegexSize
    this.errors = errors
  }
  equals(other: OpaqueValue): boolean {
    return other instanceof NamedFormat && other.name === this.name
  }
}

type Errors = (text: string) => readonly string[]

/** A prefix can end with a dash. */
const prefix =
  (errors: Errors): Errors =>
  text =>
    errors(text.length > 1 && text.endsWith('-') ? `${text.slice(0, -1)}a` : text)

const checked =
  (format: string, problem: string): Errors =>
  text =>
    formatCheck(format)?.(text) === true ? [] : [problem]

const uri: Errors = text => {
  const problem = requestUriError(text)
  return problem === undefined ? [] : [problem]
}

const formats: readonly (readonly [string, NamedFormat])[] = [
  ['dns1123Label', new NamedFormat('DNS1123Label', 30, dns1123LabelErrors)],
  ['dns1123Subdomain', new NamedFormat('DNS1123Subdomain', 60, dns1123SubdomainErrors)],
  ['dns1035Label', new NamedFormat('DNS1035Label', 30, dns1035LabelErrors)],
  ['qualifiedName', new NamedFormat('QualifiedName', 60, qualifiedNameErrors)],
  ['dns1123LabelPrefix', new NamedFormat('DNS1123LabelPrefix', 30, prefix(dns1123LabelErrors))],
  ['dns1123SubdomainPrefix', new NamedFormat('DNS1123SubdomainPrefix', 60, prefix(dns1123SubdomainErrors))],
  ['dns1035LabelPrefix', new NamedFormat('DNS1035LabelPrefix', 30, prefix(dns1035LabelErrors))],
  ['labelValue', new NamedFormat('LabelValue', 40, labelValueErrors)],
  ['uri', new NamedFormat('URI', 1103, uri)],
  ['uuid', new NamedFormat('uuid', 61, checked('uuid', 'does not match the UUID format'))],
  ['byte', new NamedFormat('byte', 84, checked('byte', 'invalid base64'))],
  ['date', new NamedFormat('date', 88, checked('date', 'invalid date'))],
  ['datetime', new NamedFormat('datetime', 88, checked('datetime', 'invalid datetime'))],
]

const byName = new Map(formats)

export const format: readonly FunctionDecl[] = [
  ...formats.map(([name, value]) =>
    declare(
      `format.${name}`,
      overload(`format.${name}`, [], formatType, () => value),
    ),
  ),
  declare(
    'format.named',
    overload('format-named', [stringType], optionalOf(formatType), ([name]) => {
      const found = byName.get(String(name))
      return found === undefined ? Optional.none : Optional.of(found)
    }),
  ),
  declare(
    'validate',
    member('format-validate', [formatType, stringType], optionalOf(listOf(stringType)), ([named, text]) => {
      const errors = (named as NamedFormat).errors(String(text))
      return errors.length === 0 ? Optional.none : Optional.of(errors)
    }),
  ),
]
