import { type CelType, dynType, isOptional, paramOf, sameType, typeWith } from '../values/type.ts'

/** Substitutions of type parameters, by name (cel-go's `mapping`). */
export type TypeMapping = Map<string, CelType>

type Substitutions = Pick<TypeMapping, 'get'>

/** Substitutions that are tried: those of before are not copied, because a long expression has thousands. */
class Trial {
  /** Absent until there are some: most overloads that are tried have no type parameters. */
  added: TypeMapping | undefined
  readonly #before: Substitutions

  constructor(before: Substitutions) {
    this.#before = before
  }

  get(name: string): CelType | undefined {
    return this.added?.get(name) ?? this.#before.get(name)
  }

  set(name: string, type: CelType): void {
    this.added ??= new Map()
    this.added.set(name, type)
  }
}

const isDyn = ({ kind }: CelType): boolean => kind === 'dyn'
const isDynOrError = ({ kind }: CelType): boolean => kind === 'dyn' || kind === 'error'

/** Adds the substitutions for which `args` are assignable to `params`. Returns false, and adds nothing, if there are none. */
export function unify(bindings: TypeMapping, params: readonly CelType[], args: readonly CelType[]): boolean {
  const trial = new Trial(bindings)
  if (!listFits(trial, params, args)) return false
  for (const [name, type] of trial.added ?? []) bindings.set(name, type)
  return true
}

function listFits(bindings: Trial, a: readonly CelType[], b: readonly CelType[]): boolean {
  return a.length === b.length && a.every((type, i) => fits(bindings, type, b[i] ?? dynType))
}

const structural: ReadonlySet<string> = new Set(['opaque', 'list', 'map'])

function fits(bindings: Trial, a: CelType, b: CelType): boolean {
  if (a === b && !a.isGeneric) return true
  if (b.kind === 'param') {
    const found = substitutes(bindings, a, b)
    if (found !== 'unbound') return found
  }
  if (a.kind === 'param') return substitutes(bindings, b, a) === true
  if (isDynOrError(a) || isDynOrError(b)) return true
  if (a.kind === 'null') return isNullable(b)
  if (b.kind === 'null') return isNullable(a)
  if (a.kind === 'type') return b.kind === 'type'
  if (structural.has(a.kind))
    return a.kind === b.kind && a.name === b.name && listFits(bindings, a.params, b.params)
  return a.kind === b.kind && a.name === b.name
}

const nullable: ReadonlySet<string> = new Set(['null', 'opaque', 'struct', 'duration', 'timestamp'])

const isNullable = ({ kind }: CelType): boolean => nullable.has(kind)

/** Whether the type can be substituted for the parameter; `unbound` if the type contains the unbound parameter. */
function substitutes(bindings: Trial, type: CelType, param: CelType): boolean | 'unbound' {
  if (type.kind === 'param' && type.name === param.name) return true
  const bound = bindings.get(param.name)
  if (bound === undefined) {
    if (!isFree(bindings, param, type)) return 'unbound'
    bindings.set(param.name, type)
    return true
  }
  if (sameType(type, bound)) return true
  if (!fits(bindings, type, bound)) return false
  const general = moreGeneral(type, bound)
  if (isFree(bindings, param, general)) bindings.set(param.name, general)
  return true
}

/** Whether a type does not contain the parameter (the occurs check). */
function isFree(bindings: Substitutions, param: CelType, type: CelType): boolean {
  if (!type.isGeneric) return true
  if (type.kind !== 'param') return type.params.every(inner => isFree(bindings, param, inner))
  if (type.name === param.name) return false
  const bound = bindings.get(type.name)
  return bound === undefined || isFree(bindings, param, bound)
}

/** The more general of two compatible types. */
export const moreGeneral = (a: CelType, b: CelType): CelType => (isLessSpecific(a, b) ? a : b)

function isLessSpecific(a: CelType, b: CelType): boolean {
  if (isDyn(a) || a.kind === 'param') return true
  if (isDyn(b) || b.kind === 'param' || a.kind !== b.kind) return false
  if (a.kind === 'type') return true
  return (
    a.name === b.name &&
    a.params.length === b.params.length &&
    a.params.every((param, i) => isLessSpecific(param, paramOf(b, i)))
  )
}

/** The type with its bound parameters substituted; unbound parameters become dyn if `toDyn`. */
export function substitute(bindings: Substitutions, type: CelType, toDyn = false): CelType {
  if (type.kind === 'param') {
    const bound = bindings.get(type.name)
    if (bound !== undefined) return substitute(bindings, bound, toDyn)
    return toDyn ? dynType : type
  }
  return withParams(type, param => substitute(bindings, param, toDyn))
}

/** Substitutes in all types of an expression, at the end: types contain each other, and each is substituted once. */
export function substituteAll<K>(
  bindings: Substitutions,
  types: ReadonlyMap<K, CelType>,
): ReadonlyMap<K, CelType> {
  const known = new Map<CelType, CelType>()
  const final = (type: CelType): CelType => {
    const made = known.get(type) ?? finalOf(type)
    known.set(type, made)
    return made
  }
  const finalOf = (type: CelType): CelType => {
    if (type.kind !== 'param') return withParams(type, final)
    const bound = bindings.get(type.name)
    return bound === undefined ? dynType : final(bound)
  }
  return new Map([...types].map(([node, type]) => [node, final(type)]))
}

/** A type that is no parameter, with those in it changed: the same type if they stay the same. */
export function withParams(type: CelType, change: (param: CelType) => CelType): CelType {
  if (!type.isGeneric) return type
  const params = type.params.map(change)
  return params.every((param, i) => param === type.params[i]) ? type : typeWith(type, params)
}

/** The type in an optional type, and whether the type was optional. */
export const unwrapped = (type: CelType): readonly [CelType, boolean] =>
  isOptional(type) ? [paramOf(type), true] : [type, false]
