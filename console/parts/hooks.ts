import { createContext } from 'preact'
import { useContext, useEffect, useRef, useState } from 'preact/hooks'
import type { Api, ApiError } from '../model/api.ts'
import { follow, type Versioned } from '../model/follow.ts'
import { clusterAnnotation, type ShownObject } from '../model/objects.ts'

/** What all parts of the page need. */
export interface ConsoleShared {
  readonly api: Api
  /** Opens a place: changes the address bar. */
  go(hash: string): void
}

export const SharedContext = createContext<ConsoleShared | undefined>(undefined)

export function useShared(): ConsoleShared {
  const shared = useContext(SharedContext)
  if (shared === undefined) throw new Error('no context')
  return shared
}

/** A list of objects that follows their changes. */
export interface Followed<T> {
  readonly items: readonly T[]
  readonly isLoaded: boolean
  readonly problem: ApiError | undefined
}

/** Milliseconds between two renderings under load. */
const frame = 150

/** Calls `work` at most once each `frame` milliseconds, and after the last call. */
export function throttled(work: () => void): { run(): void; end(): void } {
  let timer: ReturnType<typeof setTimeout> | undefined
  return {
    run() {
      timer ??= setTimeout(() => {
        timer = undefined
        work()
      }, frame)
    },
    end: () => clearTimeout(timer),
  }
}

interface ObjectList<T> extends Versioned {
  readonly items?: readonly T[]
}

const nothing: Followed<never> = { items: [], isLoaded: false, problem: undefined }

/** The objects of a path, sorted by name; none without a path. */
export function useFollowed<T extends ShownObject>(path: string | undefined): Followed<T> {
  const { api } = useShared()
  const [state, setState] = useState<Followed<T> & { readonly path: string | undefined }>({
    ...nothing,
    path,
  })
  useEffect(() => {
    if (path === undefined) return undefined
    const ending = new AbortController()
    const items = new Map<string, T>()
    let [isLoaded, problem] = [false, undefined as ApiError | undefined]
    const show = throttled(() => setState({ items: sorted(items), isLoaded, problem, path }))
    void follow<ObjectList<T>, T & Versioned>(
      api,
      { path, signal: ending.signal },
      {
        list: list => {
          isLoaded = true
          items.clear()
          for (const item of list.items ?? []) items.set(keyOf(item), item)
          show.run()
        },
        event: ({ type, object }) => {
          if (type === 'DELETED') items.delete(keyOf(object))
          else items.set(keyOf(object), object)
          show.run()
        },
        problem: found => {
          problem = found
          show.run()
        },
      },
    )
    return () => {
      ending.abort()
      show.end()
    }
  }, [api, path])
  return state.path === path ? state : nothing
}

const sorted = <T>(items: ReadonlyMap<string, T>): readonly T[] =>
  [...items].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, item]) => item)

const keyOf = ({ metadata: { namespace = '', name, annotations } }: ShownObject): string =>
  `${annotations?.[clusterAnnotation] ?? ''}/${namespace}/${name}`

/** What a request returned. */
export interface Requested<T> {
  readonly value: T | undefined
  readonly problem: Error | undefined
}

/** The result of a request, which is sent again when the key changes. */
export function useLoaded<T>(key: string, load: (signal: AbortSignal) => Promise<T>): Requested<T> {
  const [state, setState] = useState<Requested<T> & { readonly key: string }>()
  const latest = useRef(load)
  latest.current = load
  useEffect(() => {
    const ending = new AbortController()
    latest.current(ending.signal).then(
      value => ending.signal.aborted || setState({ key, value, problem: undefined }),
      problem => ending.signal.aborted || setState({ key, value: undefined, problem }),
    )
    return () => ending.abort()
  }, [key])
  return state?.key === key ? state : { value: undefined, problem: undefined }
}
