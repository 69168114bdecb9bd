import { fieldErrorText } from '../../meta/errors.ts'
import type { ExpressionCompiler, JwtConfig } from './config.ts'
import { jwtShape } from './jwtshape.ts'
import { checkRules } from './rules.ts'
import { unknownFields } from './shape.ts'

/**
 * Why entries of a WorkspaceAuthenticationConfiguration will let nobody in, in Kubernetes' words. Nothing about what is
 * not even of the right shape: that is its schema's to refuse.
 */
export function unusableEntries(jwt: unknown, compiler: ExpressionCompiler): readonly string[] {
  if (unknownFields(jwt ?? [], [jwtShape]).length > 0) return []
  return ((jwt ?? []) as readonly JwtConfig[]).flatMap((config, i) =>
    checkRules(config, `spec.jwt[${i}]`, compiler).errors.map(fieldErrorText),
  )
}
