const prefix = 'system:serviceaccount:'

export const serviceAccountName = (namespace: string, name: string): string => `${prefix}${namespace}:${name}`

export const serviceAccountGroups = (namespace: string): readonly string[] => [
  'system:serviceaccounts',
  `system:serviceaccounts:${namespace}`,
]

/** The namespace and name in the user name of a service account. */
export interface AccountName {
  readonly namespace: string
  readonly name: string
}

const accountName =
  /^system:serviceaccount:(?<namespace>[a-z0-9]([-a-z0-9]*[a-z0-9])?):(?<name>[a-z0-9]([-.a-z0-9]*[a-z0-9])?)$/

/** Parses `system:serviceaccount:ns:name`; undefined for other user names. */
export function parseServiceAccount(user: string): AccountName | undefined {
  const { namespace = '', name = '' } = accountName.exec(user)?.groups ?? {}
  return namespace === '' ? undefined : { namespace, name }
}
