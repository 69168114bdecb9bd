import { randomBytes, randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { Backoff } from '../../framework/async/backoff.ts'
import { sha256 } from '../../framework/authn/index.ts'
import { jsonClient } from '../../framework/net/jsonclient.ts'
import type { ServerAccess } from '../../framework/net/serveraccess.ts'
import { columnsText } from '../files/columns.ts'
import { adminTokenFile } from '../files/directory.ts'
import { writePrivately } from '../files/files.ts'
import { userKubeconfig } from '../files/kubeconfig.ts'
import { readKubeconfig } from '../files/kubeconfigfile.ts'
import { StartError } from '../files/starterror.ts'
import { addUser, readUsers, removeUser, type StoredUser } from '../files/users.ts'
import { withProgress } from '../process/progress.ts'

export interface UserFlags {
  readonly dataDirectory: string
}

export interface AddUserFlags extends UserFlags {
  readonly group?: readonly string[]
  /** Milliseconds. */
  readonly expires?: number
  readonly output?: string
}

/** `oriel user add`. Throws `StartError` for names that Kubernetes reserves, a user that exists, and a file that exists. */
export async function add(name: string, flags: AddUserFlags): Promise<void> {
  const {
    dataDirectory,
    group: groups = [],
    expires,
    output = `${name.replaceAll('/', '-')}.kubeconfig`,
  } = flags
  checkNames(name, groups)
  if (existsSync(output)) throw new StartError(`${output} exists: give --output the name of a new file.`)
  const { server, ca = '' } = await readKubeconfig(join(dataDirectory, 'admin.kubeconfig'), 'root').catch(
    () => {
      throw ofNoServer(dataDirectory)
    },
  )
  const token = randomBytes(32).toString('base64url')
  const user: StoredUser = {
    name,
    uid: randomUUID(),
    groups,
    sha256: sha256(token).toString('hex'),
    ...(expires !== undefined && { expires: new Date(Date.now() + expires).toISOString() }),
  }
  if (!(await addUser(dataDirectory, user)))
    throw new StartError(`The user ${name} exists: remove it first with oriel user remove ${name}.`)
  const content = userKubeconfig({ server, ca, name, token })
  await writePrivately(resolve(output), content, '--output').catch(async error => {
    await removeUser(dataDirectory, name)
    throw error
  })
  const status = await withProgress('Waiting for the server', () => statusFor({ server, ca, token }))
  process.stdout.write(`Added user ${name} with the kubeconfig ${output}.${noteOf(status)}\n`)
}

/** Milliseconds: a server reads the users every two seconds. */
const longestWait = 10_000

/** The status of a request with the token, when it is accepted or at the latest after ten seconds; 0: no server runs. */
async function statusFor(access: ServerAccess): Promise<number> {
  const signal = AbortSignal.timeout(longestWait)
  const client = jsonClient({ ...access, server: new URL(access.server).origin })
  const backoff = new Backoff({ first: 100, longest: 500 })
  const ask = (): Promise<number> =>
    client('/version', { signal }).then(
      ({ status }) => status,
      () => 0,
    )
  let status = await ask()
  for (; status === 401 && !signal.aborted; status = await ask()) await backoff.pause(signal)
  return status
}

function noteOf(status: number): string {
  if (status === 200) return ''
  return status === 0 ? ' The server accepts it when it runs.' : ' The server has not accepted it yet.'
}

/** Users and groups of the system have permissions that no role binding shows. */
function checkNames(name: string, groups: readonly string[]): void {
  if (name.trim() === '') throw new StartError('The name of the user is empty: give a name.')
  const reserved = [name, ...groups].find(each => each.startsWith('system:'))
  if (reserved !== undefined)
    throw new StartError(`${reserved} is reserved: choose a name that does not start with "system:".`)
}

const ofNoServer = (dataDirectory: string): StartError =>
  new StartError(
    `${dataDirectory} is not the data directory of a server: run oriel start first, or give --data-directory another one.`,
  )

function checkServer(dataDirectory: string): void {
  if (!existsSync(adminTokenFile(dataDirectory))) throw ofNoServer(dataDirectory)
}

/** `oriel user list`. Throws `StartError` for a directory of no server. */
export async function list({ dataDirectory }: UserFlags): Promise<void> {
  checkServer(dataDirectory)
  const rows = (await readUsers(dataDirectory)).map(({ name, groups, expires = 'never' }) => [
    name,
    groups.join(',') || '<none>',
    expires,
  ])
  process.stdout.write(columnsText([['NAME', 'GROUPS', 'EXPIRES'], ...rows], '   '))
}

/** `oriel user remove`. Throws `StartError` for a directory of no server, and a user that does not exist. */
export async function remove(name: string, { dataDirectory }: UserFlags): Promise<void> {
  checkServer(dataDirectory)
  if (!(await removeUser(dataDirectory, name)))
    throw new StartError(`There is no user ${name}: oriel user list prints the users.`)
  process.stdout.write(`Removed user ${name}. The server rejects its token within two seconds.\n`)
}
