import type { ComponentChildren, JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { ShownUser } from '../model/identity.ts'
import {
  type ConsolePage,
  type ConsolePlace,
  hashOf,
  isScope,
  isView,
  ownPath,
  pages,
} from '../model/place.ts'
import { useShared } from './hooks.ts'
import { Mark } from './mark.tsx'

const titles: Readonly<Record<ConsolePage, string>> = {
  workspaces: 'Workspaces',
  apis: 'Exports',
  views: 'Views',
  objects: 'Objects',
  access: 'Access',
}

interface ShellProps {
  readonly place: ConsolePlace
  readonly identity: ShownUser
  readonly logout: () => void
  readonly children: ComponentChildren
}

/** The frame of all pages: navigation, the workspace, the user. */
export function Shell({ place, identity, logout, children }: ShellProps): JSX.Element {
  return (
    <div class="shell">
      <button type="button" class="skip" onClick={skip}>
        Skip to the content
      </button>
      <header class="bar">
        <span class="brand">
          <Mark /> Oriel
        </span>
        <ScopeField place={place} />
        <span class="user" title={identity.groups.join(', ')}>
          {identity.username}
        </span>
        <button type="button" class="quiet" onClick={logout}>
          Sign out
        </button>
      </header>
      <nav class="nav" aria-label="Pages">
        {pages.map((page, i) => (
          <a
            key={page}
            href={hashOf({ page, scope: place.scope, choices: {} })}
            aria-current={page === place.page ? 'page' : undefined}
          >
            {titles[page]}
            <kbd>{i + 1}</kbd>
          </a>
        ))}
      </nav>
      <main id="main" tabIndex={-1}>
        {children}
      </main>
    </div>
  )
}

const skip = (): void => document.getElementById('main')?.focus()

/** The field with the path of the workspace, or of the view. */
function ScopeField({ place }: { place: ConsolePlace }): JSX.Element {
  const { go } = useShared()
  const [written, setWritten] = useState(place.scope)
  const [isWrong, setWrong] = useState(false)
  const input = useRef<HTMLInputElement>(null)
  useEffect(() => {
    setWritten(place.scope)
    setWrong(false)
  }, [place.scope])
  const submit = (event: Event): void => {
    event.preventDefault()
    const scope = ownPath(written.trim(), location.origin)?.replace(/^\/clusters\//, '') ?? written.trim()
    if (!isScope(scope)) {
      setWrong(true)
      return
    }
    const page = isView(scope) && place.page !== 'access' ? 'objects' : place.page
    go(hashOf({ page, scope, choices: {} }))
    input.current?.blur()
  }
  return (
    <form class="scope" onSubmit={submit}>
      <label>
        <span class="hidden">Workspace, or URL of a view</span>
        <input
          ref={input}
          data-scope
          type="text"
          spellcheck={false}
          autocomplete="off"
          value={written}
          aria-invalid={isWrong}
          onInput={event => {
            setWritten(event.currentTarget.value)
            setWrong(false)
          }}
        />
      </label>
      {isWrong && (
        <span class="wrong" role="alert">
          Give a path such as root:team, or the URL of a view up to its /clusters/….
        </span>
      )}
    </form>
  )
}
