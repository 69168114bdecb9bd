import { check } from '../../cel/checker/check.ts'
import type { CheckedExpr } from '../../cel/checker/checker.ts'
import { environment } from '../../cel/checker/environment.ts'
import { ProgramProblem } from '../../cel/planner/plan.ts'
import { type CelProgram, programOf } from '../../cel/planner/program.ts'
import type { RootDeclaration, SchemaDeclaration } from '../../cel/schema/schematype.ts'
import { type CelType, optionalOf } from '../../cel/values/type.ts'
import type { ValidationRule } from '../../framework/meta/jsonschema.ts'

/** A rule of a schema, compiled. */
export interface CompiledValidationRule {
  readonly rule: ValidationRule
  /** undefined for empty rules. */
  readonly program: CelProgram | undefined
  readonly message: CelProgram | undefined
  /** Whether it uses oldSelf. */
  readonly usesOldSelf: boolean
  /** The fieldPath of the rule, relative to its node. */
  readonly fieldPath: string
}

/** The error of a rule that does not compile. */
export interface RuleProblem {
  readonly where: 'rule' | 'messageExpression'
  readonly text: string
}

/** A type-checked rule. */
export interface CheckedRule {
  readonly rule?: CheckedExpr
  readonly message?: CheckedExpr
  readonly problem?: RuleProblem
}

/** The variables of rules, in the order of programs. */
const ruleVariables = ['self', 'oldSelf'] as const

const isEmpty = (text: string | undefined): boolean => text === undefined || text.trim() === ''

/** Type-checks a rule and its messageExpression, one in a step. */
export function* checkRuleSteps(
  rule: ValidationRule,
  declaration: SchemaDeclaration,
  root: RootDeclaration,
): Generator<void, CheckedRule> {
  if (isEmpty(rule.rule)) return {}
  const oldSelf = rule.optionalOldSelf === true ? optionalOf(declaration.type) : declaration.type
  const env = environment({ self: declaration.type, oldSelf }, name => root.struct(name))
  const checked = check(rule.rule, env)
  if ('issues' in checked) return problem('rule', `compilation failed: ${checked.issues}`)
  if (!isKind(checked.type, 'bool')) return problem('rule', 'cel expression must evaluate to a bool')
  if (rule.messageExpression === undefined || rule.messageExpression === '') return { rule: checked.checked }
  yield
  const message = check(rule.messageExpression, env)
  const only = { rule: checked.checked }
  if ('issues' in message)
    return {
      ...only,
      ...problem('messageExpression', `messageExpression compilation failed: ${message.issues}`),
    }
  if (!isKind(message.type, 'string'))
    return { ...only, ...problem('messageExpression', 'messageExpression must evaluate to a string') }
  return { ...only, message: message.checked }
}

const isKind = (type: CelType, kind: string): boolean => type.kind === kind

const problem = (where: RuleProblem['where'], text: string): { readonly problem: RuleProblem } => ({
  problem: { where, text },
})

/** The programs of a checked rule, or the problem of one that cannot be planned. */
export function programsOf({ rule, message, problem: known }: CheckedRule): {
  readonly program?: CelProgram
  readonly message?: CelProgram
  readonly problem?: RuleProblem
} {
  const program = build(rule, 'rule', 'program instantiation failed')
  if (program !== undefined && 'problem' in program) return program
  const messageProgram = build(message, 'messageExpression', 'messageExpression instantiation failed')
  const failed = messageProgram !== undefined && 'problem' in messageProgram ? messageProgram : undefined
  return {
    ...(program === undefined ? {} : { program }),
    ...(messageProgram === undefined || 'problem' in messageProgram ? {} : { message: messageProgram }),
    ...(known === undefined ? failed : { problem: known }),
  }
}

function build(
  checked: CheckedExpr | undefined,
  where: RuleProblem['where'],
  what: string,
): CelProgram | { readonly problem: RuleProblem } | undefined {
  try {
    return checked === undefined ? undefined : programOf(checked, ruleVariables)
  } catch (error) {
    if (!(error instanceof ProgramProblem)) throw error
    return problem(where, `${what}: ${error.message}`)
  }
}

export const usesOldSelf = (checked: CheckedExpr | undefined): boolean =>
  checked !== undefined && [...checked.names.values()].includes('oldSelf')

/** A compiled rule of a schema, or the error message if it does not compile. In steps. */
export function* compileRuleSteps(
  rule: ValidationRule,
  declaration: SchemaDeclaration,
  root: RootDeclaration,
): Generator<void, CompiledValidationRule | string> {
  const checked = yield* checkRuleSteps(rule, declaration, root)
  yield
  const { program, message, problem: wrong } = programsOf(checked)
  if (wrong?.where === 'rule') return wrong.text
  return {
    rule,
    program,
    message,
    usesOldSelf: usesOldSelf(checked.rule),
    fieldPath: normalPath(rule.fieldPath ?? ''),
  }
}

/** Normalizes `.a['b.c'].d` to `a.b.c.d`, as in field errors. */
const normalPath = (path: string): string =>
  path
    .replace(/\['((?:[^'\\]|\\.)*)'\]/g, (_all, name: string) => `.${name.replace(/\\(.)/g, '$1')}`)
    .replace(/^\./, '')
