import { dns1123LabelErrors, dns1123SubdomainErrors } from '../../framework/meta/names.ts'
import { declare, type FunctionDecl, member, type Run } from '../values/declaration.ts'
import { boolType, opaqueType, stringType, type Type } from '../values/type.ts'
import { CelError, type Opaque, type Value } from '../values/value.ts'

/** What an expression asks about: may somebody do `verb`? */
export interface Question {
  /** Instead of who makes the request. */
  readonly serviceAccount?: { readonly namespace: string; readonly name: string }
  readonly verb: string
  readonly path?: string
  readonly group?: string
  readonly resource?: string
  readonly subresource?: string
  readonly namespace?: string
  readonly name?: string
  /** As written, whether or not they can be read. */
  readonly fieldSelector?: string
  readonly labelSelector?: string
}

export interface Answer {
  readonly allowed: boolean
  readonly reason: string
  /** Why there is no decision; '' when there is one. */
  readonly error: string
}

export type Ask = (question: Question) => Answer

const typeNamed = (name: string): Type => opaqueType(`kubernetes.authorization.${name}`)
export const authorizerType = typeNamed('Authorizer')
export const resourceCheckType = typeNamed('ResourceCheck')
const pathCheckType = typeNamed('PathCheck')
const groupCheckType = typeNamed('GroupCheck')
const decisionType = typeNamed('Decision')

/** A question on its way: who is asked, and what is known of it. */
class Check implements Opaque {
  readonly opaque: Type
  readonly ask: Ask
  readonly about: Omit<Question, 'verb'>
  constructor(type: Type, ask: Ask, about: Omit<Question, 'verb'>) {
    this.opaque = type
    this.ask = ask
    this.about = about
  }
  with(type: Type, more: Partial<Question>): Check {
    return new Check(type, this.ask, { ...this.about, ...more })
  }
  equals(other: Opaque): boolean {
    return other === this
  }
}

class Decision implements Opaque {
  readonly opaque = decisionType
  readonly answer: Answer
  constructor(answer: Answer) {
    this.answer = answer
  }
  equals(other: Opaque): boolean {
    return other === this
  }
}

/** The values of `authorizer` and `authorizer.requestResource`. */
export const authorizerValue = (ask: Ask): Value => new Check(authorizerType, ask, {})
export const resourceCheckValue = (ask: Ask, about: Omit<Question, 'verb'>): Value =>
  new Check(resourceCheckType, ask, about)

/** A function that says more of a question. `mustBe`: what is said may not be blank. */
const saying = (
  name: string,
  id: string,
  [from, to]: readonly [from: Type, to: Type],
  mustBe = false,
): FunctionDecl => {
  const run: Run = ([check, text]) =>
    mustBe && String(text).trim() === ''
      ? new CelError(`${name} must not be empty`)
      : (check as Check).with(to, { [name]: String(text) })
  return declare(name, member(id, [from, stringType], to, run))
}

const serviceAccount: Run = ([check, namespace, name]) => {
  if (dns1123SubdomainErrors(String(name)).length > 0) return new CelError('Invalid service account name')
  if (dns1123LabelErrors(String(namespace)).length > 0)
    return new CelError('Invalid service account namespace')
  const account = { namespace: String(namespace), name: String(name) }
  return (check as Check).with(authorizerType, { serviceAccount: account })
}

const check: Run = ([asked, verb]) => {
  const { ask, about } = asked as Check
  return new Decision(ask({ ...about, verb: String(verb) }))
}

const told = (name: string, type: Type, read: (answer: Answer) => Value): FunctionDecl =>
  declare(
    name,
    member(`decision_${name}`, [decisionType], type, ([decision]) => read((decision as Decision).answer)),
  )

/** May somebody do something else too? For expressions of admission, which have an `authorizer`. */
export const authorizer: readonly FunctionDecl[] = [
  saying('path', 'authorizer_path', [authorizerType, pathCheckType], true),
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
  saying('resource', 'groupcheck_resource', [groupCheckType, resourceCheckType], true),
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
