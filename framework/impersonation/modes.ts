import { parseServiceAccount } from '../authn/accountname.ts'
import type { ResourceVerbRequest } from '../contract/authorizer.ts'
import type { NonResourceRequest, RequestInfo } from '../request/requestinfo.ts'
import { systemMasters } from '../request/user.ts'
import type { RequestedIdentity } from './requestedidentity.ts'

/** A way in which policy can allow impersonation. */
export interface ImpersonationMode {
  /** The verb that must be allowed for each part of the identity. */
  readonly verb: string
  /** The group of users, groups and service accounts in this mode. */
  readonly apiGroup: string
  /** The prefix of the verb of the request, which must be allowed too. */
  readonly on?: string
  /** Whether the mode applies to the identity. */
  suits(requested: RequestedIdentity): boolean
  /** The groups of all identities of this mode. */
  readonly groups?: readonly string[]
}

/** Constrained to one kind of identity and to the action (KEP-5284; rules.md 9.14). */
const constrained = (kind: string, suits: ImpersonationMode['suits']): ImpersonationMode => ({
  verb: `impersonate:${kind}`,
  on: `impersonate-on:${kind}:`,
  apiGroup: 'authentication.k8s.io',
  suits,
})

/**
 * The modes in the order in which they are tried. `associated-node` is missing: no token here belongs to a pod, which
 * has a node.
 */
export const impersonationModes: readonly ImpersonationMode[] = [
  {
    ...constrained('arbitrary-node', requested => isBare(requested) && nodeIn(requested.name) !== undefined),
    groups: ['system:nodes'],
  },
  constrained(
    'serviceaccount',
    requested => isBare(requested) && parseServiceAccount(requested.name) !== undefined,
  ),
  constrained('user-info', requested => isPerson(requested.name) && isPlain(requested)),
  { verb: 'impersonate', apiGroup: '', suits: () => true },
]

const isBare = ({ uid, groups, extra }: RequestedIdentity): boolean =>
  uid === '' && groups.length === 0 && Object.keys(extra).length === 0

const isPerson = (name: string): boolean =>
  nodeIn(name) === undefined && parseServiceAccount(name) === undefined

/** Constrained impersonation excludes `system:masters`, empty values, and extra keys without a domain. */
const isPlain = ({ groups, extra }: RequestedIdentity): boolean =>
  !groups.some(group => group === '' || group === systemMasters) &&
  Object.entries(extra).every(([key, values]) => domainPrefixed.test(key) && !values.includes(''))

const domainPrefixed = /^[a-z0-9]([-.a-z0-9]*[a-z0-9])?\/[^/%\s]+$/

/** The name of a node in its user name: `system:node:<name>`. */
const nodeIn = (user: string): string | undefined =>
  /^system:node:(?<name>[a-z0-9]([-.a-z0-9]*[a-z0-9])?)$/.exec(user)?.groups?.name

/** The authorizations that impersonation needs (rules.md 9.11). */
export const impersonationChecks = (
  mode: ImpersonationMode,
  identity: RequestedIdentity,
  info: RequestInfo,
): readonly (ResourceVerbRequest | NonResourceRequest)[] => [
  ...(mode.on === undefined ? [] : [{ ...info, verb: mode.on + info.verb }]),
  ...partsOf(mode, identity).map(part => ({ ...nothing, verb: mode.verb, ...part })),
]

const nothing = { isResource: true, version: 'v1', subresource: '', namespace: '', path: '' } as const

type Part = Pick<ResourceVerbRequest, 'group' | 'resource' | 'name'> & Partial<ResourceVerbRequest>

function partsOf({ apiGroup: group }: ImpersonationMode, requested: RequestedIdentity): readonly Part[] {
  const { uid, groups, extra } = requested
  const about = 'authentication.k8s.io'
  return [
    userPart(group, requested.name),
    ...groups.map(name => ({ group, resource: 'groups', name })),
    ...(uid === '' ? [] : [{ group: about, resource: 'uids', name: uid }]),
    ...Object.entries(extra).flatMap(([subresource, values]) =>
      values.map(name => ({ group: about, resource: 'userextras', subresource, name })),
    ),
  ]
}

/** Only constrained modes have nodes. */
function userPart(group: string, user: string): Part {
  const account = parseServiceAccount(user)
  if (account !== undefined) return { group, resource: 'serviceaccounts', ...account }
  const node = group === '' ? undefined : nodeIn(user)
  return node === undefined
    ? { group, resource: 'users', name: user }
    : { group, resource: 'nodes', name: node }
}
