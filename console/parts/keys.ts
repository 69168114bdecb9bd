import { useEffect } from 'preact/hooks'
import { type ConsolePlace, hashOf, pages } from '../model/place.ts'

const isTyping = ({ target }: KeyboardEvent): boolean =>
  target instanceof HTMLElement && /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName)

/** 1 to 5 open the pages, `/` goes to the filter of the page, and `w` to the path of the workspace. */
export function usePlaceKeys({ scope }: ConsolePlace, go: (hash: string) => void): void {
  useEffect(() => {
    const pressed = (event: KeyboardEvent): void => {
      if (isTyping(event) || event.ctrlKey || event.metaKey || event.altKey) return
      const page = /^[1-5]$/.test(event.key) ? pages[Number(event.key) - 1] : undefined
      if (page !== undefined) go(hashOf({ page, scope, choices: {} }))
      else if (event.key === '/') focus(event, '[data-filter]')
      else if (event.key === 'w') focus(event, '[data-scope]')
    }
    addEventListener('keydown', pressed)
    return () => removeEventListener('keydown', pressed)
  }, [scope, go])
}

function focus(event: KeyboardEvent, selector: string): void {
  const found = document.querySelector<HTMLInputElement>(selector)
  if (found === null) return
  event.preventDefault()
  found.focus()
  found.select()
}

/** Moves the focus between the rows of a tree or a table; `selector` finds them in their order on the page. */
export function moveFocus(event: KeyboardEvent, selector: string): boolean {
  const moves: Readonly<Record<string, number>> = { ArrowDown: 1, ArrowUp: -1 }
  const rows = [...(event.currentTarget as HTMLElement).querySelectorAll<HTMLElement>(selector)]
  const at = rows.indexOf(document.activeElement as HTMLElement)
  const move = moves[event.key]
  const next =
    event.key === 'Home' ? rows[0] : event.key === 'End' ? rows.at(-1) : move && rows[Math.max(0, at + move)]
  if (!next) return false
  event.preventDefault()
  next.focus()
  return true
}
