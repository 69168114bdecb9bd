import { compileViewExpression, qualifiedNameErrors, type ViewExpression } from '../../openapi/index.ts'
import { isSystemKey } from '../shared/facts/clusterindex.ts'

type Kind = Parameters<typeof compileViewExpression>[1]
type Use = Parameters<typeof compileViewExpression>[2]

/** A mistake in a View. */
export interface ViewProblem {
  readonly about: 'source' | 'expression'
  /** `spec.resources[0].where` */
  readonly field: string
  readonly message: string
}

/** Compiles the expression of a field; undefined for a missing or wrong one. */
export type FieldCompiler = (field: string, text: string | undefined, use: Use) => ViewExpression | undefined

/** Collects the mistakes of one resource of a View. */
export interface Problems {
  readonly all: readonly ViewProblem[]
  add(about: ViewProblem['about'], field: string, message: string): void
  /** Adds the mistake in the name of an annotation, if there is one. */
  annotation(field: string, name: string): void
  compilerFor(kind: Kind): FieldCompiler
}

export function collectProblems(): Problems {
  const all: ViewProblem[] = []
  const add: Problems['add'] = (about, field, message) => void all.push({ about, field, message })
  return {
    all,
    add,
    annotation(field, name) {
      const errors = qualifiedNameErrors(name)
      if (isSystemKey(name)) add('expression', field, 'annotations of kcp and Kubernetes cannot be added')
      else if (errors.length > 0) add('expression', field, errors.join('; '))
    },
    compilerFor: kind => (field, text, use) => {
      if (text === undefined) return undefined
      const compiled = compileViewExpression(text, kind, use)
      if (!('problem' in compiled)) return compiled
      add('expression', field, compiled.problem)
      return undefined
    },
  }
}
