import type { JSX } from 'preact'
import { useCallback, useEffect, useMemo, useState } from 'preact/hooks'
import { Api, ApiError, type Credential } from './model/api.ts'
import { identityOf, type ShownUser } from './model/identity.ts'
import { type ConsolePlace, hashOf, placeIn } from './model/place.ts'
import { Access } from './pages/access.tsx'
import { Apis } from './pages/apis.tsx'
import { Login } from './pages/login.tsx'
import { Objects } from './pages/objects.tsx'
import { Views } from './pages/views.tsx'
import { Workspaces } from './pages/workspaces.tsx'
import { SharedContext } from './parts/hooks.ts'
import { usePlaceKeys } from './parts/keys.ts'
import { Shell } from './parts/shell.tsx'

interface Session {
  readonly api: Api
  readonly identity: ShownUser
  /** The server accepts the credential no longer. */
  end(): void
}

/** Milliseconds between two checks of the credential: a page that only waits for events of watches sends no other requests. */
const checkInterval = 15_000

/** The page: the login, or one of the pages in its frame. */
export function Console(): JSX.Element {
  const [session, setSession] = useState<Session>()
  const [notice, setNotice] = useState('')
  const login = useCallback(async (credential: Credential) => {
    const end = () => {
      setSession(undefined)
      setNotice('The session has ended: the server no longer accepts the credential. Sign in again.')
    }
    const unchecked = new Api(credential, () => undefined)
    const identity = await identityOf(unchecked)
    setNotice('')
    setSession({ api: new Api(credential, end), identity, end })
  }, [])
  const logout = useCallback(() => {
    setSession(undefined)
    setNotice('')
  }, [])
  if (session === undefined) return <Login notice={notice} login={login} />
  return <SignedIn session={session} logout={logout} />
}

function SignedIn({ session, logout }: { session: Session; logout: () => void }): JSX.Element {
  const place = usePlace()
  const { api, identity } = session
  const shared = useMemo(() => ({ api, go: (hash: string) => location.assign(hash) }), [api])
  usePlaceKeys(place, shared.go)
  useExpiry(session)
  useEffect(() => {
    document.title = `${place.scope} · Oriel`
  }, [place.scope])
  return (
    <SharedContext.Provider value={shared}>
      <Shell place={place} identity={identity} logout={logout}>
        <PageOf place={place} identity={identity} />
      </Shell>
    </SharedContext.Provider>
  )
}

/** Ends the session when the server does not accept the credential any more, also where nothing is asked. */
function useExpiry({ api, end }: Session): void {
  useEffect(() => {
    const check = () =>
      identityOf(api).catch(error => {
        if (error instanceof ApiError && error.status === 401) end()
      })
    const timer = setInterval(check, checkInterval)
    return () => clearInterval(timer)
  }, [api, end])
}

function PageOf({ place, identity }: { place: ConsolePlace; identity: ShownUser }): JSX.Element {
  switch (place.page) {
    case 'apis':
      return <Apis key={place.scope} place={place} />
    case 'views':
      return <Views />
    case 'objects':
      return <Objects key={place.scope} place={place} />
    case 'access':
      return <Access key={place.scope} place={place} identity={identity} />
    default:
      return <Workspaces place={place} />
  }
}

/** What the address bar names. */
function usePlace(): ConsolePlace {
  const [hash, setHash] = useState(location.hash)
  useEffect(() => {
    const changed = () => setHash(location.hash)
    addEventListener('hashchange', changed)
    // It may have changed since it was rendered.
    changed()
    return () => removeEventListener('hashchange', changed)
  }, [])
  useEffect(() => {
    const written = hashOf(placeIn(hash))
    if (hash === location.hash && hash !== written) history.replaceState(undefined, '', written)
  }, [hash])
  return useMemo(() => placeIn(hash), [hash])
}
