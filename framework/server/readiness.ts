import { aborted } from '../async/awaitable.ts'
import { Backoff } from '../async/backoff.ts'
import type { Logger } from '../contract/log.ts'
import type { VirtualWorkspace } from '../contract/workspace.ts'
import type { Metrics } from '../metrics/metrics.ts'
import type { HealthCheck } from './health.ts'

/** The controllers of a server's views. */
export interface RunningViews {
  /** The names of views whose controllers are not ready. */
  readonly starting: ReadonlySet<string>
  /** One per view, by its name; the endpoint `/clusters/…` has no name and none. A view without controllers is ready. Those of
   * plugins are optional. */
  readonly checks: readonly HealthCheck[]
  /** Resolves after the signal has aborted and `run` of all ready views has returned. */
  readonly stopped: Promise<void>
}

/** Runs the controllers of views until `signal` aborts. A view whose `run` fails is unready, and is restarted with back-off. */
export function runViews(
  workspaces: readonly VirtualWorkspace[],
  log: Logger,
  signal: AbortSignal,
): RunningViews {
  const waiting = new Set(workspaces.filter(w => w.run !== undefined).map(w => w.name))
  const named = workspaces.filter(({ name }) => name !== '')
  const checks = named.map(({ name, plugin }) => ({
    name,
    optional: plugin !== undefined,
    healthy: () => !waiting.has(name) && plugin?.isHealthy() !== false,
  }))
  const runs = workspaces.map(workspace => keepRunning(workspace, waiting, log, signal))
  return {
    starting: waiting,
    checks,
    stopped: Promise.all(runs).then(() => undefined),
  }
}

/**
 * The views with their paths, and whether they are ready, as metrics for `oriel views`. The label `reason` is '' for a ready view,
 * else `starting` or `failing`.
 */
export function meterViews(
  metrics: Metrics,
  workspaces: readonly VirtualWorkspace[],
  { starting }: Pick<RunningViews, 'starting'>,
): void {
  const named = workspaces.filter(({ name }) => name !== '')
  const reasonOf = ({ name, plugin }: VirtualWorkspace): string =>
    starting.has(name) ? 'starting' : plugin?.isHealthy() === false ? 'failing' : ''
  metrics.meter({
    kind: 'gauge',
    name: 'oriel_view_ready',
    help: 'Whether a view is ready, with the pattern of its path; reason is "starting" or "failing" if it is not.',
    labels: ['view', 'path', 'reason'],
    collect: set => {
      for (const view of named) {
        const reason = reasonOf(view)
        set({ view: view.name, path: view.path.pattern, reason }, reason === '' ? 1 : 0)
      }
    },
  })
}

/** Milliseconds. */
const pauses = { first: 500, longest: 30_000 }
/** After a longer run the pauses begin again. */
const longRun = 300_000

async function keepRunning(
  workspace: VirtualWorkspace,
  waiting: Set<string>,
  log: Logger,
  signal: AbortSignal,
): Promise<void> {
  const backoff = new Backoff(pauses)
  while (workspace.run !== undefined && !signal.aborted) {
    const since = performance.now()
    try {
      const running = workspace.run(() => waiting.delete(workspace.name), signal)
      // A view that is not ready may wait for another server without end; it is not waited for.
      const ended = aborted(signal).then(() => (waiting.has(workspace.name) ? undefined : running))
      await Promise.race([running, ended])
      return
    } catch (error) {
      if (signal.aborted) return
      waiting.add(workspace.name)
      log.error({ view: workspace.name, error: String(error) }, 'view failed, restarting')
      if (performance.now() - since > longRun) backoff.reset()
      await backoff.pause(signal)
    }
  }
}
