import { createPrivateKey } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createSecureContext } from 'node:tls'
import { certificatesOf } from '../../framework/authn/issuer.ts'
import type { EtcdAccess, EtcdCredentials } from '../../shard/store/etcd/connection.ts'
import { type FileWatchEnding, follow } from './follow.ts'
import { codeOf, StartError } from './starterror.ts'

/** The flags of the access to etcd. */
export interface EtcdAccessFlags {
  readonly etcdCafile?: string
  readonly etcdCertfile?: string
  readonly etcdKeyfile?: string
  readonly etcdUser?: string
  readonly etcdPasswordFile?: string
}

const schemes = ['etcd://', 'https://', 'http://'] as const

/** Whether a value of `--store` names an etcd. */
export const isEtcd = (where: string): boolean => schemes.some(scheme => where.startsWith(scheme))

/**
 * The members and credentials of `--store etcd://host:2379,host:2379`. `https://`, or one of the certificate flags, is for
 * TLS. `following` absent: the files are read once. Throws `StartError` for addresses, flags and files that are not valid.
 */
export async function etcdAccess(
  where: string,
  flags: EtcdAccessFlags,
  following?: FileWatchEnding,
): Promise<EtcdAccess> {
  const endpoints = endpointsOf(where)
  const { etcdCafile, etcdCertfile, etcdKeyfile } = flags
  const isSecure = where.startsWith('https://')
  const hasFiles = [etcdCafile, etcdCertfile, etcdKeyfile].some(file => file !== undefined)
  if (hasFiles && where.startsWith('http://'))
    throw new StartError(
      '--store has the scheme http, but --etcd-cafile, --etcd-certfile or --etcd-keyfile is given: use https.',
    )
  const read = () => credentialsOf(flags, isSecure || hasFiles)
  let current = await read()
  const use = (next: EtcdCredentials): void => {
    current = next
  }
  if (following !== undefined) follow({ what: 'credentials for etcd', current, read, use, ...following })
  return { endpoints, credentials: () => current }
}

async function credentialsOf(flags: EtcdAccessFlags, hasTls: boolean): Promise<EtcdCredentials> {
  const tls = hasTls ? await tlsOf(flags) : undefined
  const user = await userOf(flags)
  return { ...(tls && { tls }), ...(user && { user }) }
}

function endpointsOf(where: string): readonly string[] {
  const scheme = schemes.find(each => where.startsWith(each)) ?? ''
  return where
    .slice(scheme.length)
    .replace(/\/$/, '')
    .split(',')
    .map(part => endpoint(part.startsWith(scheme) ? part.slice(scheme.length) : part, where))
}

function endpoint(text: string, where: string): string {
  const url = URL.canParse(`tcp://${text}`) ? new URL(`tcp://${text}`) : undefined
  const isPlain =
    url?.hostname !== '' && url?.pathname === '' && `${url.username}${url.search}${url.hash}` === ''
  if (!url || !isPlain || !/:\d+$/.test(text))
    throw new StartError(
      `--store ${where}: ${JSON.stringify(text)} is not an address of etcd: give host:port, such as etcd://10.0.0.1:2379,10.0.0.2:2379.`,
    )
  return text
}

async function tlsOf({ etcdCafile, etcdCertfile, etcdKeyfile }: EtcdAccessFlags) {
  const ca = etcdCafile && (await certificates('--etcd-cafile', etcdCafile))
  const own = etcdCertfile && (await certificates('--etcd-certfile', etcdCertfile))
  const key = etcdKeyfile && (await privateKey('--etcd-keyfile', etcdKeyfile))
  if (own && key) checkPair(own, key, `--etcd-certfile ${etcdCertfile} and --etcd-keyfile ${etcdKeyfile}`)
  return { ...(ca && { ca }), ...(own && { certificate: own }), ...(key && { key }) }
}

function checkPair(cert: Buffer, key: Buffer, files: string): void {
  try {
    createSecureContext({ cert, key })
  } catch (error) {
    throw new StartError(
      `${files} cannot be used together (${codeOf(error)}): give a certificate and its key.`,
    )
  }
}

async function userOf({ etcdUser, etcdPasswordFile }: EtcdAccessFlags) {
  if (etcdUser === undefined || etcdPasswordFile === undefined) return undefined
  const password = (await content('--etcd-password-file', etcdPasswordFile)).toString().replace(/\r?\n$/, '')
  return { name: etcdUser, password }
}

async function content(flag: string, path: string): Promise<Buffer> {
  try {
    return await readFile(path)
  } catch (error) {
    throw new StartError(`${flag} ${path} cannot be read (${codeOf(error)}).`)
  }
}

/** Reads a file, and checks it with `parse`. */
async function checked(flag: string, path: string, parse: (bytes: Buffer) => unknown): Promise<Buffer> {
  const bytes = await content(flag, path)
  try {
    parse(bytes)
  } catch {
    throw new StartError(`${flag} ${path} is not valid PEM for this flag.`)
  }
  return bytes
}

const certificates = (flag: string, path: string) =>
  checked(flag, path, bytes => certificatesOf(bytes.toString()))
const privateKey = (flag: string, path: string) => checked(flag, path, bytes => createPrivateKey(bytes))
