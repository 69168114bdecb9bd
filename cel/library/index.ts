import { functionsOf } from '../values/declaration.ts'
import { arithmetic } from './arithmetic.ts'
import { authorizer } from './authorizer.ts'
import { conversions } from './conversions.ts'
import { ip } from './ip.ts'
import { lists, sets } from './lists.ts'
import { format } from './namedformat.ts'
import { comparisons, logic } from './operators.ts'
import { optionals } from './optionals.ts'
import { quantity } from './quantity.ts'
import { semver } from './semver.ts'
import { regex, strings } from './strings.ts'
import { timestamps } from './timestamps.ts'
import { url } from './url.ts'

/** The functions of all expressions of Kubernetes (rules.md 7.39). */
export const standardDeclarations = [
  ...logic,
  ...comparisons,
  ...arithmetic,
  ...conversions,
  ...strings,
  ...lists,
  ...optionals,
  ...sets,
  ...timestamps,
  ...regex,
  ...url,
  ...quantity,
  ...ip,
  ...format,
  ...semver,
  ...authorizer,
]

export const standardLibrary = functionsOf(standardDeclarations)
