import { parseYaml } from '../../framework/wire/yaml.ts'
import { StartError } from './starterror.ts'

/** The token of a user in a kubeconfig; undefined when the file has no such user. Throws `StartError` on other files. */
export function tokenOf(kubeconfig: string, user: string, file: string): string | undefined {
  try {
    const { users } = parseYaml(kubeconfig).value as { users?: readonly NamedUser[] }
    return users?.find(({ name }) => name === user)?.user?.token
  } catch {
    throw new StartError(`${file} is not a kubeconfig: remove it and start again.`)
  }
}

interface NamedUser {
  readonly name?: string
  readonly user?: { readonly token?: string }
}
