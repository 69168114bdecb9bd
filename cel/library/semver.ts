import { declare, type FunctionDecl, type FunctionOp, member, overload } from '../values/declaration.ts'
import { boolType, intType, opaqueType, stringType } from '../values/type.ts'
import { CelError, type OpaqueValue } from '../values/value.ts'

const semverType = opaqueType('kubernetes.Semver')

class Semver implements OpaqueValue {
  readonly opaque = semverType
  readonly numbers: readonly number[]
  readonly prerelease: readonly string[]
  constructor(numbers: readonly number[], prerelease: readonly string[]) {
    this.numbers = numbers
    this.prerelease = prerelease
  }
  equals(other: OpaqueValue): boolean {
    return other instanceof Semver && compareVersions(this, other) === 0
  }
}

const numeric = /^\d+$/

/** Parses a version; an error message if invalid. */
function parse(text: string): Semver | string {
  if (text === '') return 'Version string empty'
  const [core, pre, build] = splitCore(text)
  const parts = core.split('.')
  if (parts.length !== 3) return 'No Major.Minor.Patch elements found'
  for (const [i, name] of ['major', 'minor', 'patch'].entries()) {
    const problem = numberProblem(parts[i] ?? '', name)
    if (problem !== undefined) return problem
  }
  const prerelease = pre === undefined ? [] : pre.split('.')
  for (const part of prerelease) {
    const problem = identifierProblem(part)
    if (problem !== undefined) return problem
  }
  const wrong = build?.split('.').find(part => !/^[0-9A-Za-z-]+$/.test(part))
  if (wrong === '') return 'Build meta data is empty'
  if (wrong !== undefined) return `Invalid character(s) found in build meta data ${JSON.stringify(wrong)}`
  return new Semver(parts.map(Number), prerelease)
}

/** `1.2.3-pre+build` */
function splitCore(text: string): readonly [string, string | undefined, string | undefined] {
  const plus = text.indexOf('+')
  const build = plus < 0 ? undefined : text.slice(plus + 1)
  const rest = plus < 0 ? text : text.slice(0, plus)
  const dash = rest.indexOf('-')
  return dash < 0 ? [rest, undefined, build] : [rest.slice(0, dash), rest.slice(dash + 1), build]
}

function numberProblem(part: string, name: string): string | undefined {
  const title = `${name.charAt(0).toUpperCase()}${name.slice(1)}`
  if (!numeric.test(part)) return `Invalid character(s) found in ${name} number ${JSON.stringify(part)}`
  if (part.length > 1 && part.startsWith('0'))
    return `${title} number must not contain leading zeroes ${JSON.stringify(part)}`
  return BigInt(part) >= 2n ** 64n
    ? `strconv.ParseUint: parsing ${JSON.stringify(part)}: value out of range`
    : undefined
}

function identifierProblem(part: string): string | undefined {
  if (part === '') return 'Prerelease is empty'
  if (numeric.test(part) && part.length > 1 && part.startsWith('0'))
    return `Numeric PreRelease version must not contain leading zeroes ${JSON.stringify(part)}`
  return /^[0-9A-Za-z-]+$/.test(part)
    ? undefined
    : `Invalid character(s) found in prerelease ${JSON.stringify(part)}`
}

/** `v1.2` becomes `1.2.0`, `01.2.3` becomes `1.2.3`. */
function normalized(text: string): string | CelError {
  const [major = '', minor, ...patch] = text.replace(/^v/, '').split('.')
  const parts = [
    major,
    ...(minor === undefined ? [] : [minor]),
    ...(patch.length > 0 ? [patch.join('.')] : []),
  ]
  const clean = parts.map(part => (part.length > 1 ? part.replace(/^0+(?=\d)/, '') : part))
  if (clean.length < 3 && /[+-]/.test(clean.at(-1) ?? ''))
    return new CelError('short version cannot contain PreRelease/Build meta data')
  while (clean.length < 3) clean.push('0')
  return clean.join('.')
}

function read(text: string, normalize: boolean): Semver | CelError {
  const clean = normalize ? normalized(text) : text
  if (typeof clean !== 'string') return clean
  const version = parse(clean)
  return typeof version === 'string' ? new CelError(version) : version
}

const sign = (difference: number): number => Math.sign(difference)

function compareVersions(a: Semver, b: Semver): number {
  for (let i = 0; i < 3; i++) {
    const order = sign((a.numbers[i] ?? 0) - (b.numbers[i] ?? 0))
    if (order !== 0) return order
  }
  // A version without a prerelease comes after those with one.
  if (a.prerelease.length === 0 || b.prerelease.length === 0)
    return sign(b.prerelease.length - a.prerelease.length)
  for (const [i, part] of a.prerelease.entries()) {
    const order = compareIdentifiers(part, b.prerelease[i])
    if (order !== 0) return order
  }
  return sign(a.prerelease.length - b.prerelease.length)
}

/** Numeric identifiers come before others. */
function compareIdentifiers(a: string, b: string | undefined): number {
  if (b === undefined) return 1
  const [x, y] = [numeric.test(a), numeric.test(b)]
  if (x && y) return sign(Number(a) - Number(b))
  if (x !== y) return x ? -1 : 1
  return a < b ? -1 : a > b ? 1 : 0
}

const compare: FunctionOp = ([a, b]) => compareVersions(a as Semver, b as Semver)
const pair = [semverType, semverType]

const numberAt = (name: string, index: number): FunctionDecl =>
  declare(
    name,
    member(`semver_${name}`, [semverType], intType, ([version]) => (version as Semver).numbers[index] ?? 0),
  )

const toSemver: FunctionOp = ([text, normalize = false]) => read(String(text), normalize === true)
const isSemver: FunctionOp = ([text, normalize = false]) =>
  read(String(text), normalize === true) instanceof Semver

export const semver: readonly FunctionDecl[] = [
  declare(
    'semver',
    overload('string_to_semver', [stringType], semverType, toSemver),
    overload('string_bool_to_semver', [stringType, boolType], semverType, toSemver),
  ),
  declare(
    'isSemver',
    overload('is_semver_string', [stringType], boolType, isSemver),
    overload('is_semver_string_bool', [stringType, boolType], boolType, isSemver),
  ),
  declare('compareTo', member('semver_compare_to', pair, intType, compare)),
  declare(
    'isGreaterThan',
    member('semver_is_greater_than', pair, boolType, (args, tracker) => compare(args, tracker) === 1),
  ),
  declare(
    'isLessThan',
    member('semver_is_less_than', pair, boolType, (args, tracker) => compare(args, tracker) === -1),
  ),
  numberAt('major', 0),
  numberAt('minor', 1),
  numberAt('patch', 2),
]
