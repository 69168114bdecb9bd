import type { ApiResource } from '../../contract/apis.ts'
import { apiSetOf } from '../../contract/apis.ts'
import { allow } from '../../contract/authorizer.ts'
import type { Logger } from '../../contract/log.ts'
import { silent } from '../../contract/log.ts'
import {
  defineVirtualWorkspace,
  type Host,
  type VirtualWorkspace,
  type WorkspaceDefinition,
} from '../../contract/workspace.ts'
import { createMetrics } from '../../metrics/metrics.ts'
import { host, type Serving } from '../../testing/serving.ts'
import { createPluginMeters } from '../meters.ts'
import { supervisedFactories } from '../supervise.ts'
import type { Supervisor } from '../supervisor.ts'

/** A line of the log. */
export interface Line extends Readonly<Record<string, unknown>> {
  readonly level: 'info' | 'warn' | 'error'
  readonly text: string
}

/** A log that is read by the test. */
export function readableLog(): { readonly log: Logger; readonly lines: Line[] } {
  const lines: Line[] = []
  const at = (level: Line['level']) => (fields: object, text: string) =>
    void lines.push({ ...fields, level, text })
  const log: Logger = { ...silent, info: at('info'), warn: at('warn'), error: at('error'), child: () => log }
  return { log, lines }
}

export type Definition = Partial<WorkspaceDefinition<'/services/sick'>>

/** The widgets of a host, which a view may change. */
export const widgetsOf = ({ backend }: Host): ApiResource => {
  const found = backend.apis('*')?.find('example.com', 'v1', 'widgets')
  if (found === undefined) throw new Error('there are no widgets')
  return found
}

/** The supervised view `sick` of a plugin, whose module is the test itself, over the shard of a scene. */
export function supervisedIn(
  scene: Serving,
  file: string,
  define: (host: Host) => Definition,
): { readonly view: VirtualWorkspace; readonly lines: Line[]; readonly supervisor: Supervisor } {
  const { log, lines } = readableLog()
  const factory = defineVirtualWorkspace('sick', '/services/sick', given => ({
    apis: () => apis(given),
    authorize: async () => allow('a test'),
    ...define(given),
  }))
  let set: ReturnType<typeof apiSetOf> | undefined
  const apis = (given: Host) => {
    set ??= apiSetOf([widgetsOf(given)])
    return set
  }
  const supervisors = new Map<string, Supervisor>()
  const supervision = { supervisors, isOurs: () => false, meters: createPluginMeters(createMetrics()) }
  const origin = { name: './sick.ts', file }
  const [supervised] = supervisedFactories({ origin, factories: [factory] }, supervision)
  const view = supervised?.({ ...host(scene), log })
  const supervisor = supervisors.get('sick')
  if (view === undefined || supervisor === undefined) throw new Error('there is no view')
  return { view, lines, supervisor }
}
