import type { JSX } from 'preact'
import { useEffect, useMemo, useState } from 'preact/hooks'
import { type ApiError, accepts } from '../model/api.ts'
import { type Listable, listableAt, listPath, nameOf } from '../model/discovery.ts'
import { follow } from '../model/follow.ts'
import { apiPath, type ConsolePlace, hashOf } from '../model/place.ts'
import { LiveTable, type Table } from '../model/table.ts'
import { Empty, Filter, Loading, Pill, Problem } from '../parts/basics.tsx'
import { throttled, useLoaded, useShared } from '../parts/hooks.ts'
import { ObjectTable } from '../parts/objecttable.tsx'

/** The objects of a kind in a workspace or a view, as a table that changes with them. */
export function Objects({ place }: { place: ConsolePlace }): JSX.Element {
  const { api } = useShared()
  const base = apiPath(place.scope)
  const { value: listables, problem } = useLoaded(base, signal => listableAt(api, base, signal))
  const chosen = listables?.find(each => nameOf(each) === place.choices.resource) ?? firstOf(listables ?? [])
  return (
    <section class="pane" aria-label="Objects">
      <Problem problem={problem} />
      {listables === undefined && problem === undefined && <Loading />}
      {listables?.length === 0 && <Empty>Nothing here can be listed.</Empty>}
      {chosen !== undefined && listables !== undefined && (
        <Live key={`${base} ${nameOf(chosen)}`} place={place} chosen={chosen} listables={listables} />
      )}
    </section>
  )
}

/** Objects of users rather than those of the system. */
const firstOf = (listables: readonly Listable[]): Listable | undefined =>
  listables.find(
    ({ group }) => group !== '' && !/(\.k8s\.io|\.kcp\.io|\.oriel\.dev)$/.test(group) && group.includes('.'),
  ) ??
  listables.find(({ resource }) => resource === 'workspaces') ??
  listables[0]

interface LiveProps {
  readonly place: ConsolePlace
  readonly chosen: Listable
  readonly listables: readonly Listable[]
}

function Live({ place, chosen, listables }: LiveProps): JSX.Element {
  const { go } = useShared()
  const [filter, setFilter] = useState('')
  const { table, problem, isLoaded } = useTable(listPath(apiPath(place.scope), chosen), chosen)
  const wanted = filter.trim().toLowerCase()
  const rows = table.rows.filter(
    ({ cells, cluster, namespace }) =>
      wanted === '' || [cluster, namespace, ...cells].some(text => text.toLowerCase().includes(wanted)),
  )
  const choose = (resource: string) => go(hashOf({ ...place, choices: { ...place.choices, resource } }))
  return (
    <>
      <header class="head">
        <h1>
          <select
            aria-label="Resource"
            value={nameOf(chosen)}
            onChange={event => choose(event.currentTarget.value)}
          >
            {listables.map(each => (
              <option key={nameOf(each)} value={nameOf(each)}>
                {nameOf(each)}
              </option>
            ))}
          </select>
        </h1>
        <Filter value={filter} change={setFilter} label="Filter rows" />
        <span class="note" role="status">
          {isLoaded &&
            `${rows.length.toLocaleString('en')}${table.isCut ? ' (the first of more)' : ''} · ${table.events.toLocaleString('en')} changes seen`}
        </span>
        {isLoaded && problem === undefined && <Pill tone="good">live</Pill>}
        {isLoaded && problem !== undefined && <Pill tone="busy">interrupted</Pill>}
      </header>
      <Problem problem={problem} />
      {!isLoaded && problem === undefined && <Loading />}
      {isLoaded && rows.length === 0 && (
        <Empty>{wanted === '' ? 'There are none.' : 'No row has this text.'}</Empty>
      )}
      {rows.length > 0 && <ObjectTable columns={table.columns} rows={rows} />}
    </>
  )
}

interface TableState {
  readonly table: LiveTable
  readonly problem: ApiError | undefined
  readonly isLoaded: boolean
}

/** The objects of one request for a list. */
const inPage = 500

function useTable(path: string, { verbs }: Listable): TableState {
  const { api } = useShared()
  const table = useMemo(() => new LiveTable(), [path])
  const [state, setState] = useState<Omit<TableState, 'table'> & { readonly version: number }>({
    problem: undefined,
    isLoaded: false,
    version: 0,
  })
  const isWatched = verbs.includes('watch')
  useEffect(() => {
    const ending = new AbortController()
    let [problem, isLoaded] = [undefined as ApiError | undefined, false]
    const show = throttled(() => setState(({ version }) => ({ problem, isLoaded, version: version + 1 })))
    const follower = {
      list: (list: Table) => {
        isLoaded = true
        table.list(list)
        show.run()
      },
      event: (event: Parameters<LiveTable['event']>[0]) => {
        table.event(event)
        show.run()
      },
      problem: (found: ApiError | undefined) => {
        problem = found
        show.run()
      },
    }
    const following = { path: `${path}?limit=${inPage}`, accept: accepts.table, signal: ending.signal }
    if (isWatched) void follow<Table, Table>(api, following, follower)
    else void api.json<Table>(following.path, following).then(follower.list, follower.problem)
    return () => {
      ending.abort()
      show.end()
    }
  }, [api, path, table, isWatched])
  return { table, ...state }
}
