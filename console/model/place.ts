/** What the address bar names: a page, a workspace or a view, and the choices of the page. */
export interface ConsolePlace {
  readonly page: ConsolePage
  /** The path of a workspace such as `root:team`, or the path of a view such as `/services/apiexport/…/clusters/*`. */
  readonly scope: string
  readonly choices: Readonly<Record<string, string>>
}

export const pages = ['workspaces', 'apis', 'views', 'objects', 'access'] as const
export type ConsolePage = (typeof pages)[number]

const isPage = (text: string): text is ConsolePage => (pages as readonly string[]).includes(text)

/** `#/objects/root%3Ateam?resource=widgets.example.com`; anything else is the first page at `root`. */
export function placeIn(hash: string): ConsolePlace {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?', 2)
  const [page = '', scope = ''] = path.split('/', 2)
  return {
    page: isPage(page) ? page : 'workspaces',
    scope: scopeIn(scope),
    choices: Object.fromEntries(new URLSearchParams(query)),
  }
}

function scopeIn(written: string): string {
  try {
    const scope = decodeURIComponent(written)
    return isScope(scope) ? scope : 'root'
  } catch {
    return 'root'
  }
}

export function hashOf({ page, scope, choices }: ConsolePlace): string {
  const query = new URLSearchParams(Object.entries(choices).filter(([, value]) => value !== '')).toString()
  return `#/${page}/${encodeURIComponent(scope)}${query === '' ? '' : `?${query}`}`
}

const workspacePath = /^[a-z0-9]([a-z0-9-]*[a-z0-9])?(:[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/
const viewPath = /^\/services\/[^?#\s]+\/clusters\/(\*|[a-z0-9]([a-z0-9-]*[a-z0-9])?)$/

/** A scope goes into the paths of requests, so that only paths of workspaces and views are one. */
export const isScope = (text: string): boolean =>
  workspacePath.test(text) || (viewPath.test(text) && isAsSent(text))

/** Any base, which gets no request: the rules are those of the browser for `https`. */
const base = 'https://0.0.0.0'

/** Browsers replace relative segments, also `%2e%2e`, and backslashes. */
const isAsSent = (path: string): boolean => new URL(path, base).pathname === path

export const isView = (scope: string): boolean => scope.startsWith('/')

/** The path below which the server has the API of a scope. */
export const apiPath = (scope: string): string => (isView(scope) ? scope : `/clusters/${scope}`)

/** The parts of a workspace's path, each with the path up to it. */
export function ancestorsOf(scope: string): readonly { readonly name: string; readonly path: string }[] {
  const names = scope.split(':')
  return names.map((name, i) => ({ name, path: names.slice(0, i + 1).join(':') }))
}

/** The path of a published URL, if it is one of this server; else undefined. */
export function ownPath(url: string, origin: string): string | undefined {
  if (!URL.canParse(url)) return undefined
  const read = new URL(url)
  return read.origin === origin ? read.pathname.replace(/\/+$/, '') : undefined
}
