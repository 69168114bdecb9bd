import { standardLibrary } from '../library/index.ts'
import type { FunctionDecl } from '../values/declaration.ts'
import {
  boolType,
  bytesType,
  type CelType,
  doubleType,
  durationType,
  dynType,
  intType,
  listOf,
  mapOf,
  nullType,
  opaqueType,
  optionalOf,
  stringType,
  timestampType,
  typeType,
  uintType,
} from '../values/type.ts'

/** The fields of an object type, by name. */
export interface StructInfo {
  field(name: string): CelType | undefined
  /** Whether expressions can construct it: `Object.spec{…}`. */
  readonly constructible?: boolean
}

/** The variables, functions and types that an expression can use. */
export interface Environment {
  readonly variables: ReadonlyMap<string, CelType>
  readonly functions: ReadonlyMap<string, FunctionDecl>
  struct(name: string): StructInfo | undefined
}

/** An environment with the functions of Kubernetes and these variables. */
export const environment = (
  variables: Readonly<Record<string, CelType>>,
  struct: Environment['struct'] = () => undefined,
  functions: ReadonlyMap<string, FunctionDecl> = standardLibrary,
): Environment => ({ variables: new Map(Object.entries(variables)), functions, struct })

/** Types that expressions can name. */
const namedTypes: ReadonlyMap<string, CelType> = new Map(
  [
    boolType,
    bytesType,
    doubleType,
    intType,
    stringType,
    uintType,
    nullType,
    typeType,
    durationType,
    timestampType,
    listOf(dynType),
    mapOf(dynType, dynType),
    optionalOf(dynType),
    opaqueType('net.IP'),
    opaqueType('net.CIDR'),
    opaqueType('kubernetes.URL'),
    opaqueType('kubernetes.Quantity'),
    opaqueType('kubernetes.Semver'),
    opaqueType('kubernetes.NamedFormat'),
  ].map(type => [type.name, type]),
)

export const typeNamed = (name: string): CelType | undefined => namedTypes.get(name)
