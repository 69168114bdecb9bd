const prefix = 'system:serviceaccount:'

export const serviceAccountName = (namespace: string, name: string): string => `${prefix}${namespace}:${name}`

export const serviceAccountGroups = (namespace: string): readonly string[] => [
  'system:serviceaccounts',
  `system:serviceaccounts:${namespace}`,
]

/** A service account as its user name has it. */
export interface AccountName {
  readonly namespace: string
  readonly name: string
}

const accountName =
  /^system:serviceaccount:(?<namespace>[a-z0-9]([-a-z0-9]*[a-z0-9])?):(?<name>[a-z0-9]([-.a-z0-9]*[a-z0-9])?)$/

/** `system:serviceaccount:ns:name` taken apart; undefined for every other user name. */
export function parseServiceAccount(user: string): AccountName | undefined {
  const { namespace = '', name = '' } = accountName.exec(user)?.groups ?? {}
  return namespace === '' ? undefined : { namespace, name }
}
