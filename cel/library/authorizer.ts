import { dns1123LabelErrors, dns1123SubdomainErrors } from '../../framework/meta/names.ts'
import { declare, type FunctionDecl, type FunctionOp, member } from '../values/declaration.ts'
import { boolType, type CelType, opaqueType, stringType } from '../values/type.ts'
import { CelError, type CelValue, type OpaqueValue } from '../values/value.ts'

/** The attributes of an authorization check by an expression. */
export interface AuthorizationCheck {
  /** Checked instead of the user of the request. */
  readonly serviceAccount?: { readonly namespace: string; readonly name: string }
  readonly verb: string
  readonly path?: string
  readonly group?: string
  readonly resource?: string
  readonly subresource?: string
  readonly namespace?: string
  readonly name?: string
  /** Unparsed, possibly invalid. */
  readonly fieldSelector?: string
  readonly labelSelector?: string
}

export interface AuthorizationDecision {
  readonly allowed: boolean
  readonly reason: string
  /** The error of the authorizer; '' for none. */
  readonly error: string
}

export type Authorize = (question: AuthorizationCheck) => AuthorizationDecision

const typeNamed = (name: string): CelType => opaqueType(`kubernetes.authorization.${name}`)
export const authorizerType = typeNamed('Authorizer')
export const resourceCheckType = typeNamed('ResourceCheck')
const pathCheckType = typeNamed('PathCheck')
const groupCheckType = typeNamed('GroupCheck')
const decisionType = typeNamed('Decision')

/** An `Authorizer` or one of its checks: the attributes set so far. */
class AuthorizerValue implements OpaqueValue {
  readonly opaque: CelType
  readonly ask: Authorize
  readonly about: Omit<AuthorizationCheck, 'verb'>
  constructor(type: CelType, ask: Authorize, about: Omit<AuthorizationCheck, 'verb'>) {
    this.opaque = type
    this.ask = ask
    this.about = about
  }
  with(type: CelType, more: Partial<AuthorizationCheck>): AuthorizerValue {
    return new AuthorizerValue(type, this.ask, { ...this.about, ...more })
  }
  equals(other: OpaqueValue): boolean {
    return other === this
  }
}

class DecisionValue implements OpaqueValue {
  readonly opaque = decisionType
  readonly answer: AuthorizationDecision
  constructor(answer: AuthorizationDecision) {
    this.answer = answer
  }
  equals(other: OpaqueValue): boolean {
    return other === this
  }
}

/** The values of `authorizer` and `authorizer.requestResource`. */
export const authorizerValue = (ask: Authorize): CelValue => new AuthorizerValue(authorizerType, ask, {})
export const resourceCheckValue = (ask: Authorize, about: Omit<AuthorizationCheck, 'verb'>): CelValue =>
  new AuthorizerValue(resourceCheckType, ask, about)

/** A function that sets an attribute of a check. A required one must not be blank. */
const saying = (
  name: string,
  id: string,
  [from, to]: readonly [from: CelType, to: CelType],
  presence: 'required' | 'optional' = 'optional',
): FunctionDecl => {
  const run: FunctionOp = ([check, text]) =>
    presence === 'required' && String(text).trim() === ''
      ? new CelError(`${name} must not be empty`)
      : (check as AuthorizerValue).with(to, { [name]: String(text) })
  return declare(name, member(id, [from, stringType], to, run))
}

const serviceAccount: FunctionOp = ([check, namespace, name]) => {
  if (dns1123SubdomainErrors(String(name)).length > 0) return new CelError('Invalid service account name')
  if (dns1123LabelErrors(String(namespace)).length > 0)
    return new CelError('Invalid service account namespace')
  const account = { namespace: String(namespace), name: String(name) }
  return (check as AuthorizerValue).with(authorizerType, { serviceAccount: account })
}

const check: FunctionOp = ([asked, verb]) => {
  const { ask, about } = asked as AuthorizerValue
  return new DecisionValue(ask({ ...about, verb: String(verb) }))
}

const told = (name: string, type: CelType, read: (answer: AuthorizationDecision) => CelValue): FunctionDecl =>
  declare(
    name,
    member(`decision_${name}`, [decisionType], type, ([decision]) =>
      read((decision as DecisionValue).answer),
    ),
  )

/** The authorizer library, for expressions of admission (`k8s.io/apiserver/pkg/cel/library/authz.go`). */
export const authorizer: readonly FunctionDecl[] = [
  saying('path', 'authorizer_path', [authorizerType, pathCheckType], 'required'),
  saying('group', 'authorizer_group', [authorizerType, groupCheckType]),
  declare(
    'serviceAccount',
    member(
      'authorizer_serviceaccount',
      [authorizerType, stringType, stringType],
      authorizerType,
      serviceAccount,
    ),
  ),
  saying('resource', 'groupcheck_resource', [groupCheckType, resourceCheckType], 'required'),
  saying('subresource', 'resourcecheck_subresource', [resourceCheckType, resourceCheckType]),
  saying('namespace', 'resourcecheck_namespace', [resourceCheckType, resourceCheckType]),
  saying('name', 'resourcecheck_name', [resourceCheckType, resourceCheckType]),
  saying('fieldSelector', 'authorizer_fieldselector', [resourceCheckType, resourceCheckType]),
  saying('labelSelector', 'authorizer_labelselector', [resourceCheckType, resourceCheckType]),
  declare(
    'check',
    member('pathcheck_check', [pathCheckType, stringType], decisionType, check),
    member('resourcecheck_check', [resourceCheckType, stringType], decisionType, check),
  ),
  told('errored', boolType, ({ error }) => error !== ''),
  told('error', stringType, ({ error }) => error),
  told('allowed', boolType, ({ allowed }) => allowed),
  told('reason', stringType, ({ reason }) => reason),
]
