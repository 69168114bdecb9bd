import { pacedMap } from '../../async/awaitable.ts'
import { type FieldError, fieldErrorText } from '../../meta/errors.ts'
import type {
  ClaimMappings,
  ClaimRule,
  ClaimsExpression,
  ExpressionCompiler,
  JwtConfig,
  PrefixedClaim,
} from './config.ts'
import { issuerErrors } from './issuererrors.ts'
import { invalid, required } from './problems.ts'
import { jwtShape, unknownFields } from './shape.ts'

/** The validated configuration of an issuer with its compiled expressions. */
export interface JwtRules {
  readonly config: JwtConfig
  readonly username?: ClaimsExpression
  readonly groups?: ClaimsExpression
  readonly uid?: ClaimsExpression
  readonly extra: readonly { readonly key: string; readonly values: ClaimsExpression }[]
  readonly claimRules: readonly CompiledTokenRule[]
  readonly userRules: readonly CompiledTokenRule[]
  readonly newBudget: ExpressionCompiler['newBudget']
}

export interface CompiledTokenRule {
  readonly expression: string
  readonly message: string
  readonly holds: ClaimsExpression
}

export interface CheckedRules {
  readonly rules: JwtRules
  /** Rules with errors must not be used. */
  readonly errors: readonly FieldError[]
}

/** The errors of one configuration. */
interface Check {
  readonly errors: FieldError[]
  readonly compiler: ExpressionCompiler
}

/**
 * Validates one entry of `jwt` at `path`, such as `jwt[0]` (`ValidateAuthenticationConfiguration`). `forbidden`: the
 * issuers of the server itself.
 */
export function checkRules(
  config: JwtConfig,
  path: string,
  compiler: ExpressionCompiler,
  forbidden: readonly string[] = [],
): CheckedRules {
  const { issuer = { url: '' }, claimMappings = { username: {} } }: Partial<JwtConfig> = config
  const check: Check = { errors: [...issuerErrors(issuer, `${path}.issuer`, forbidden)], compiler }
  const claimRules = claimRulesOf(check, config.claimValidationRules ?? [], `${path}.claimValidationRules`)
  const mapped = mappingsOf(check, claimMappings, `${path}.claimMappings`)
  checkEmail(check, mapped, claimRules, `${path}.claimMappings.username.expression`)
  const userRules = (config.userValidationRules ?? []).flatMap((rule, i) =>
    ruleOf(check, rule, 'user', `${path}.userValidationRules[${i}]`),
  )
  const { newBudget } = compiler
  return { rules: { config, ...mapped, claimRules, userRules, newBudget }, errors: check.errors }
}

type Mapped = Pick<JwtRules, 'username' | 'groups' | 'uid' | 'extra'>

function mappingsOf(
  check: Check,
  { username, groups, uid, extra = [] }: ClaimMappings,
  path: string,
): Mapped {
  const name = prefixed(check, username, `${path}.username`)
  if (!username?.claim && !username?.expression)
    check.errors.push(required(`${path}.username`, 'claim or expression is required'))
  const groupsOf = prefixed(check, groups, `${path}.groups`)
  if (uid?.claim && uid.expression)
    check.errors.push(invalid(`${path}.uid`, '', "claim and expression can't both be set"))
  const id = uid?.expression ? compile(check, uid.expression, 'claims', `${path}.uid.expression`) : undefined
  return {
    ...(name && { username: name }),
    ...(groupsOf && { groups: groupsOf }),
    ...(id && { uid: id }),
    extra: extra.flatMap((mapping, i) => extraOf(check, mapping, extra.slice(0, i), `${path}.extra[${i}]`)),
  }
}

function prefixed(
  check: Check,
  mapping: PrefixedClaim | undefined,
  path: string,
): ClaimsExpression | undefined {
  const { claim, expression, prefix } = mapping ?? {}
  if (claim && expression) check.errors.push(invalid(path, '', "claim and expression can't both be set"))
  else if (expression) {
    if (prefix !== undefined)
      check.errors.push(invalid(`${path}.prefix`, prefix, 'may not be specified when expression is set'))
    return compile(check, expression, 'claims', `${path}.expression`)
  } else if (claim && prefix === undefined) {
    const detail =
      'prefix is required when claim is set. It can be set to an empty string to disable prefixing'
    check.errors.push(required(`${path}.prefix`, detail))
  }
  return undefined
}

const domainPrefixed = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*\/[^\s]+$/i
const reserved = /^([^/]*\.)?(kubernetes|k8s)\.io\//

type ExtraMapping = NonNullable<ClaimMappings['extra']>[number]

function extraOf(
  check: Check,
  { key, valueExpression }: ExtraMapping,
  before: readonly ExtraMapping[],
  path: string,
): JwtRules['extra'] {
  const wrong = (detail: string): void => void check.errors.push(invalid(`${path}.key`, key, detail))
  if (!domainPrefixed.test(key)) wrong('must be a domain-prefixed path (such as "acme.io/foo")')
  if (key !== key.toLowerCase()) wrong('must be lowercase')
  if (reserved.test(key)) wrong('k8s.io, kubernetes.io and their subdomains are reserved for Kubernetes use')
  if (before.some(other => other.key === key)) {
    check.errors.push({ type: 'FieldValueDuplicate', field: `${path}.key`, value: key, detail: '' })
    return []
  }
  if (!valueExpression) check.errors.push(required(`${path}.valueExpression`, ''))
  const values = compile(check, valueExpression, 'claims', `${path}.valueExpression`)
  return values === undefined ? [] : [{ key, values }]
}

const claimRulesOf = (
  check: Check,
  rules: readonly ClaimRule[],
  path: string,
): readonly CompiledTokenRule[] =>
  rules.flatMap((rule, i) => {
    const { claim, expression, message, requiredValue } = rule
    const at = `${path}[${i}]`
    if (claim && expression) check.errors.push(invalid(at, claim, "claim and expression can't both be set"))
    if (!claim && !expression) check.errors.push(required(at, 'claim or expression is required'))
    if (claim && message)
      check.errors.push(invalid(`${at}.message`, message, 'may not be specified when claim is set'))
    if (expression && requiredValue)
      check.errors.push(
        invalid(`${at}.requiredValue`, requiredValue, 'may not be specified when expression is set'),
      )
    return expression ? ruleOf(check, { ...rule, expression }, 'claims', at) : []
  })

function ruleOf(
  check: Check,
  { expression, message = '' }: { readonly expression: string; readonly message?: string },
  variable: 'claims' | 'user',
  path: string,
): readonly CompiledTokenRule[] {
  if (!expression) check.errors.push(required(`${path}.expression`, ''))
  const holds = compile(check, expression, variable, `${path}.expression`)
  return holds === undefined ? [] : [{ expression, message, holds }]
}

function compile(
  { errors, compiler }: Check,
  expression: string,
  variable: 'claims' | 'user',
  path: string,
): ClaimsExpression | undefined {
  if (!expression) return undefined
  try {
    return compiler.compile(expression, variable)
  } catch (error) {
    errors.push(invalid(path, expression, (error as Error).message))
    return undefined
  }
}

/** A user name from an unverified address would let users choose their names. */
function checkEmail(
  check: Check,
  mapped: Mapped,
  claimRules: readonly CompiledTokenRule[],
  path: string,
): void {
  const { username, extra } = mapped
  if (!username?.reads('email')) return
  const all = [username, ...extra.map(({ values }) => values), ...claimRules.map(({ holds }) => holds)]
  if (all.some(expression => expression.reads('email_verified'))) return
  check.errors.push(
    invalid(
      path,
      '',
      'claims.email_verified must be used in claimMappings.username.expression or claimMappings.extra[*].valueExpression or claimValidationRules[*].expression when claims.email is used in claimMappings.username.expression',
    ),
  )
}

/**
 * The errors of the entries of a WorkspaceAuthenticationConfiguration, which are checked in turns: each may have 150 certificates. Schema validation reports entries that do not
 * match its schema.
 */
export async function unusableEntries(
  jwt: unknown,
  compiler: ExpressionCompiler,
): Promise<readonly string[]> {
  if (unknownFields(jwt ?? [], [jwtShape]).length > 0) return []
  const checked = await pacedMap(((jwt ?? []) as readonly JwtConfig[]).entries(), ([i, config]) =>
    checkRules(config, `spec.jwt[${i}]`, compiler).errors.map(fieldErrorText),
  )
  return checked.flat()
}
