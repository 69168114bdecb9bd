import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { ApiError } from '../model/api.ts'
import { type LiveView, ViewRates } from '../model/rates.ts'
import { Loading, Pill, Problem } from '../parts/basics.tsx'
import { useShared } from '../parts/hooks.ts'
import { Sparkline } from '../parts/sparkline.tsx'

/** Milliseconds between two readings of the metrics. */
const interval = 2_000

/** The views of the server with their requests, watchers, events and errors, as they change. */
export function Views(): JSX.Element {
  const { views, problem } = useViews()
  return (
    <section class="pane" aria-label="Views">
      <header class="head">
        <h1>Views</h1>
        <span class="note">
          since the start of the server, with rates of the last {(interval * 40) / 1000} seconds
        </span>
      </header>
      <Problem problem={problem} />
      {problem?.status === 403 && (
        <p class="help">
          The numbers cover all workspaces. Users with the role <code>system:kcp:metrics-reader</code> in{' '}
          <code>root</code> may read them.
        </p>
      )}
      {views === undefined && problem === undefined && <Loading />}
      {views?.length === 0 && (
        <p class="help">
          This server counts no requests of views. Behind a front proxy, open <code>/console</code> at the
          address of a shard.
        </p>
      )}
      {views !== undefined && views.length > 0 && <ViewsTable views={views} />}
    </section>
  )
}

interface ViewsState {
  readonly views: readonly LiveView[] | undefined
  readonly problem: ApiError | undefined
}

/** Reads the metrics again and again, but not while the page is hidden. */
function useViews(): ViewsState {
  const { api } = useShared()
  const [state, setState] = useState<ViewsState>({ views: undefined, problem: undefined })
  useEffect(() => {
    const ending = new AbortController()
    const rates = new ViewRates()
    let timer: ReturnType<typeof setTimeout> | undefined
    const read = async (): Promise<void> => {
      if (!document.hidden) {
        await api.text('/metrics', { accept: 'text/plain', signal: ending.signal }).then(
          text => setState({ views: rates.read(text, performance.now()), problem: undefined }),
          error => ending.signal.aborted || setState(({ views }) => ({ views, problem: problemOf(error) })),
        )
      }
      if (!ending.signal.aborted) timer = setTimeout(() => void read(), interval)
    }
    void read()
    return () => {
      ending.abort()
      clearTimeout(timer)
    }
  }, [api])
  return state
}

const problemOf = (error: unknown): ApiError =>
  error instanceof ApiError ? error : new ApiError(0, String(error))

const ViewsTable = ({ views }: { views: readonly LiveView[] }): JSX.Element => (
  <div class="scroll">
    <table class="views">
      <thead>
        <tr>
          <th scope="col">View</th>
          <th scope="col">State</th>
          <th scope="col" class="wide">
            Requests / s
          </th>
          <th scope="col" class="wide">
            Events / s
          </th>
          <th scope="col" class="number">
            Watchers
          </th>
          <th scope="col" class="number">
            Requests
          </th>
          <th scope="col" class="number">
            Refused
          </th>
          <th scope="col" class="number">
            Errors
          </th>
          <th scope="col" class="number">
            Mean
          </th>
          <th scope="col" class="number">
            Sent
          </th>
        </tr>
      </thead>
      <tbody>
        {views.map(view => (
          <ViewRow key={view.view} view={view} />
        ))}
      </tbody>
    </table>
  </div>
)

function ViewRow({ view: each }: { view: LiveView }): JSX.Element {
  const { view, path, notReady, requests, refused, errors, watches, bytes, milliseconds } = each
  return (
    <tr data-view={view}>
      <th scope="row">
        {view}
        <code title={path}>{path}</code>
      </th>
      <td>{notReady === '' ? <Pill tone="good">ready</Pill> : <Pill tone="bad">{notReady}</Pill>}</td>
      <td class="wide">
        <Rate rates={each.requestRates} what="requests" />
      </td>
      <td class="wide">
        <Rate rates={each.eventRates} what="events" />
      </td>
      <td class="number" data-watches>
        {count(watches)}
      </td>
      <td class="number" data-requests>
        {count(requests)}
      </td>
      <td class={refused > 0 ? 'number warm' : 'number'}>{count(refused)}</td>
      <td class={errors > 0 ? 'number hot' : 'number'}>{count(errors)}</td>
      <td class="number">{requests === 0 ? '' : `${milliseconds} ms`}</td>
      <td class="number">{bytesOf(bytes)}</td>
    </tr>
  )
}

function Rate({ rates, what }: { rates: readonly number[]; what: string }): JSX.Element {
  const latest = rates.at(-1) ?? 0
  const shown = latest < 10 ? latest.toFixed(1) : Math.round(latest).toLocaleString('en')
  return (
    <span class="rate">
      <Sparkline values={rates} label={`${shown} ${what} a second`} />
      <span>{rates.length === 0 ? '' : shown}</span>
    </span>
  )
}

const count = (value: number): string => value.toLocaleString('en')

const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB']

function bytesOf(bytes: number): string {
  const unit = bytes === 0 ? 0 : Math.min(units.length - 1, Math.floor(Math.log2(bytes) / 10))
  return `${(bytes / 1024 ** unit).toFixed(unit === 0 ? 0 : 1)} ${units[unit]}`
}
