import { readFile } from 'node:fs/promises'
import { isBundle, isPair } from '../framework/authn/pem.ts'
import { defaultNames, type IdentityNames } from '../framework/net/headers.ts'
import { parseYaml } from '../framework/wire/yaml.ts'

/** Maps a path to a server (kcp `pkg/proxy/mapping.go`). */
export interface Mapping {
  /** `/clusters/` is the workspace tree; `/` matches every other path; any other value is a prefix. */
  readonly path: string
  /** `https://host:port`, optionally with a path. */
  readonly backend: string
  /** File names, PEM. */
  readonly ca: string
  readonly cert: string
  readonly key: string
  readonly names: IdentityNames
}

/** An invalid mapping file. The message names the line. */
export class MappingError extends Error {}

type Fields = Readonly<Record<string, unknown>>

/** Reads kcp's mapping file. Unknown fields are ignored. Throws `MappingError`. */
export function parseMappings(text: string): readonly Mapping[] {
  const document = parsed(text)
  const entries = document.value
  if (!Array.isArray(entries) || entries.length === 0)
    throw new MappingError('line 1: there is no list of mappings')
  const mappings = entries.map((entry: unknown, index) => {
    const fail = (field: string, problem: string): MappingError => {
      const line = document.lineOf(field === '' ? [index] : [index, field])
      return new MappingError(`line ${line}: ${field === '' ? 'the mapping' : `field "${field}"`} ${problem}`)
    }
    return mappingOf(entry, fail)
  })
  for (const [index, { path }] of mappings.entries())
    if (mappings.findIndex(other => prefixOf(other.path) === prefixOf(path)) !== index)
      throw new MappingError(`line ${document.lineOf([index, 'path'])}: field "path" repeats "${path}"`)
  return mappings
}

function parsed(text: string): ReturnType<typeof parseYaml> {
  try {
    return parseYaml(text)
  } catch (error) {
    throw new MappingError((error as Error).message)
  }
}

type Fail = (field: string, problem: string) => MappingError

function mappingOf(entry: unknown, fail: Fail): Mapping {
  if (typeof entry !== 'object' || entry === null || Array.isArray(entry)) throw fail('', 'is not an object')
  const fields = entry as Fields
  const path = required(fields, 'path', fail)
  if (!isPath(path)) throw fail('path', `is ${JSON.stringify(path)}, which is not a path such as /services/`)
  const backend = required(fields, 'backend', fail)
  const url = URL.canParse(backend) ? new URL(backend) : undefined
  if (url?.protocol !== 'https:' || url.search !== '' || url.hash !== '' || url.username !== '')
    throw fail('backend', `is ${JSON.stringify(backend)}, which is not an https URL`)
  return {
    path,
    backend: backend.replace(/\/+$/, ''),
    ca: required(fields, 'backend_server_ca', fail),
    cert: required(fields, 'proxy_client_cert', fail),
    key: required(fields, 'proxy_client_key', fail),
    names: {
      ...defaultNames,
      user: headerName(fields, 'user_header', fail) ?? defaultNames.user,
      group: headerName(fields, 'group_header', fail) ?? defaultNames.group,
      extraPrefix: headerName(fields, 'extra_header_prefix', fail) ?? defaultNames.extraPrefix,
    },
  }
}

function required(fields: Fields, name: string, fail: Fail): string {
  const value = fields[name]
  if (value === undefined || value === null || value === '') throw fail(name, 'is missing')
  if (typeof value !== 'string') throw fail(name, 'is not a string')
  return value
}

function headerName(fields: Fields, name: string, fail: Fail): string | undefined {
  const value = fields[name]
  if (value === undefined || value === null || value === '') return undefined
  if (typeof value !== 'string' || !/^[a-z0-9!#$%&'*+.^_`|~-]+$/i.test(value))
    throw fail(name, 'is not the name of a header')
  return value
}

const segment = /^(\{cluster\}|[A-Za-z0-9._~:-]+)$/
const isPath = (path: string): boolean =>
  path === '/' ||
  (path.startsWith('/') &&
    prefixOf(path)
      .slice(1)
      .split('/')
      .every(part => segment.test(part)))

const prefixOf = (path: string): string => path.replace(/\/+$/, '')

/** The mapping of a URL. */
export interface Match {
  readonly mapping: Mapping
  /** The segment at `{cluster}` or after `/clusters/`, percent-encoded as received. */
  readonly cluster?: string
}

/** Finds the mapping of a path. The longest one wins, in any order of the file. */
export function matcherOf(mappings: readonly Mapping[]): (path: string) => Match | undefined {
  const patterns = mappings
    .map(mapping => ({ mapping, parts: prefixOf(mapping.path).split('/') }))
    .sort((a, b) => b.parts.length - a.parts.length || literals(b.parts) - literals(a.parts))
  return path => {
    const segments = path.split('/')
    for (const { mapping, parts } of patterns) {
      const fits = parts.every((part, i) => part === segments[i] || (part === '{cluster}' && segments[i]))
      if (!fits) continue
      const cluster = mapping.path === treePath ? segments[2] : segments[parts.indexOf('{cluster}')]
      return { mapping, ...(cluster === undefined ? {} : { cluster }) }
    }
    return undefined
  }
}

const literals = (parts: readonly string[]): number => parts.filter(part => part !== '{cluster}').length

/** The path of the workspace tree. */
export const treePath = '/clusters/'

/** The TLS files of a mapping, PEM. */
export interface MappingTls {
  readonly ca: string
  readonly cert: string
  readonly key: string
}

/** Reads the files of a mapping. Throws a `MappingError` that names the missing or invalid one. */
export async function readTls({
  path,
  ca,
  cert,
  key,
}: Pick<Mapping, 'path' | 'ca' | 'cert' | 'key'>): Promise<MappingTls> {
  const wrong = (what: string): MappingError =>
    new MappingError(`failed to create path mapping for path "${path}": ${what}`)
  const read = async (file: string): Promise<string> => {
    try {
      return await readFile(file, 'utf8')
    } catch (error) {
      throw wrong(`${file} cannot be read (${(error as NodeJS.ErrnoException).code})`)
    }
  }
  const tls = { ca: await read(ca), cert: await read(cert), key: await read(key) }
  if (!isBundle(tls.ca)) throw wrong(`${ca} contains no valid certificate`)
  if (!isPair(tls)) throw wrong(`${cert} and ${key} are not a key pair`)
  return tls
}
