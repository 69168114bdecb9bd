import { requestUriError } from '../../framework/formats/formats.ts'
import { declare, type FunctionDecl, type FunctionOp, member, overload } from '../values/declaration.ts'
import { LiteralMap } from '../values/maps.ts'
import { boolType, listOf, mapOf, opaqueType, stringType } from '../values/type.ts'
import { CelError, type OpaqueValue } from '../values/value.ts'

const urlType = opaqueType('kubernetes.URL')

class Url implements OpaqueValue {
  readonly opaque = urlType
  readonly text: string
  readonly scheme: string
  readonly host: string
  readonly path: string
  readonly query: string
  constructor(text: string) {
    const [, scheme = '', rest = ''] = /^(?:([a-zA-Z][a-zA-Z0-9+.-]*):)?(.*)$/s.exec(text) ?? []
    const [before = '', query = ''] = splitOnce(splitOnce(rest, '#')[0], '?')
    const [, authority, path = ''] = /^(?:\/\/([^/]*))?(.*)$/s.exec(before) ?? []
    this.text = text
    this.scheme = scheme.toLowerCase()
    this.host = (authority ?? '').replace(/^.*@/, '')
    // A URL with a scheme but without a slash is opaque, and has no path.
    this.path = scheme !== '' && authority === undefined && !path.startsWith('/') ? '' : path
    this.query = query
  }
  equals(other: OpaqueValue): boolean {
    return other instanceof Url && other.text === this.text
  }
}

function splitOnce(text: string, separator: string): readonly [string, string] {
  const at = text.indexOf(separator)
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)]
}

const toUrl: FunctionOp = ([value]) => {
  const problem = requestUriError(String(value))
  if (problem === undefined) return new Url(String(value))
  return new CelError(`URL parse error during conversion from string: ${problem}`)
}

const hostname = ({ host }: Url): string =>
  (/^\[(.*)\](?::\d*)?$/.exec(host) ?? /^([^:]*)(?::\d*)?$/.exec(host))?.[1] ?? host

const port = ({ host }: Url): string => /:(\d*)$/.exec(host.replace(/^\[.*\]/, ''))?.[1] ?? ''

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return undefined
  }
}

const query: FunctionOp = ([url]) => {
  const values = new Map<string, string[]>()
  for (const pair of (url as Url).query.split('&')) {
    if (pair === '' || pair.includes(';')) continue
    const [key, value] = splitOnce(pair, '=').map(decode)
    if (key === undefined || value === undefined) continue
    values.set(key, [...(values.get(key) ?? []), value])
  }
  return LiteralMap.of(values)
}

/** The path, with invalid characters escaped. */
const escapedPath = ({ path }: Url): string =>
  path.replace(/[^\w\-.~!$&'()*+,;=:@/%[\]]/gu, char => encodeURIComponent(char))

const getter = (name: string, id: string, get: (url: Url) => string): FunctionDecl =>
  declare(
    name,
    member(id, [urlType], stringType, ([url]) => get(url as Url)),
  )

export const url: readonly FunctionDecl[] = [
  declare('url', overload('string_to_url', [stringType], urlType, toUrl)),
  declare(
    'isURL',
    overload(
      'is_url_string',
      [stringType],
      boolType,
      ([text]) => requestUriError(String(text)) === undefined,
    ),
  ),
  getter('getScheme', 'url_get_scheme', ({ scheme }) => scheme),
  getter('getHost', 'url_get_host', ({ host }) => host),
  getter('getHostname', 'url_get_hostname', hostname),
  getter('getPort', 'url_get_port', port),
  getter('getEscapedPath', 'url_get_escaped_path', escapedPath),
  declare('getQuery', member('url_get_query', [urlType], mapOf(stringType, listOf(stringType)), query)),
]
