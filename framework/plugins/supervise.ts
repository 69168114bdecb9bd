import { checkDefinition } from '../contract/definition.ts'
import type { MemberReports } from '../contract/viewfailure.ts'
import { ViewMistake } from '../contract/viewfailure.ts'
import type { Host, VirtualWorkspace, WorkspaceFactory } from '../contract/workspace.ts'
import { definedAt, type PluginOrigin, positionOf } from './position.ts'
import { privateHost } from './privatehost.ts'
import { supervisedView } from './supervisedview.ts'
import { type Supervised, Supervisor } from './supervisor.ts'

/** The views of a plugin, before they are made. */
export interface LoadedPlugin {
  readonly origin: PluginOrigin
  readonly factories: readonly WorkspaceFactory[]
}

/** Receives the reports of plugins' views, and is called with their supervisors. */
export interface Supervision extends Pick<Supervised, 'meters' | 'isOurs'> {
  /** By the name of the view. */
  readonly supervisors: Map<string, Supervisor>
  /** Aborts when the views are replaced. */
  readonly until?: AbortSignal
}

/** Factories of supervised views. They throw an `Error` that names file and line when a view cannot be made. */
export const supervisedFactories = (
  { origin, factories }: LoadedPlugin,
  supervision: Supervision,
): readonly WorkspaceFactory[] =>
  factories.map(factory => host => supervisedBy({ factory, host, origin, supervision }))

interface Making {
  readonly factory: WorkspaceFactory
  readonly host: Host
  readonly origin: PluginOrigin
  readonly supervision: Supervision
}

function supervisedBy({ factory, host, origin, supervision }: Making): VirtualWorkspace {
  let supervisor: Supervisor | undefined
  const reports: MemberReports = {
    failed: problem => supervisor?.reports().failed(problem),
    took: () => undefined,
  }
  try {
    const view = checkedView(factory(privateHost(host, reports, supervision.until)), factory)
    supervisor = new Supervisor({ ...supervision, view: view.name, origin, log: host.log })
    supervision.supervisors.set(view.name, supervisor)
    return supervisedView(view, supervisor, supervision.until)
  } catch (error) {
    throw new Error(`${whereIs(error, origin, supervision.isOurs)}: ${(error as Error).message}`, {
      cause: error,
    })
  }
}

/** Views need not be made by `defineVirtualWorkspace`. */
function checkedView(view: VirtualWorkspace, factory: WorkspaceFactory): VirtualWorkspace {
  const { name, path, plugin: _, ...definition } = view ?? {}
  if (typeof name !== 'string' || typeof path?.parse !== 'function')
    throw new ViewMistake(
      'a view must have a name and a path: make it with defineVirtualWorkspace()',
      factory,
    )
  checkDefinition(name, definition, factory)
  return view
}

/** The position of a mistake, or the file of the plugin. */
function whereIs(error: unknown, origin: PluginOrigin, isOurs: (path: string) => boolean): string {
  const culprit = error instanceof ViewMistake ? error.culprit : undefined
  const at = culprit === undefined ? positionOf(error, origin, isOurs) : definedAt(culprit)
  return at ?? origin.file
}
