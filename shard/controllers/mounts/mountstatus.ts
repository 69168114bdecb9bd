import type { KubeObject } from '../../../framework/meta/object.ts'
import { type ConditionState, isFalse, isTrue, setConditions } from '../../../kcp/conditions.ts'
import type { LogicalClusterPhase } from '../../../kcp/core.ts'
import type { Workspace } from '../../../kcp/tenancy.ts'
import { type MountRef, type MountState, mountState } from './mountref.ts'
import type { TargetProblem } from './mounttarget.ts'

/** The result of resolving a mount reference. */
export type Observation =
  | { readonly found: 'object'; readonly object: KubeObject; readonly problem?: TargetProblem }
  /** Workspaces that mount each other. */
  | { readonly found: 'itself' }
  | { readonly found: 'nothing' }
  | { readonly found: 'no kind' }

const type = 'WorkspaceMountReady'

/** The URL of the workspace; the current one stays when the object has none. */
export const mountUrl = (observed: Observation, current: string | undefined): string | undefined =>
  observed.found === 'object' ? mountState(observed.object).url || current : current

/** The status of a mounted workspace (kcp `workspacemounts/workspace_mounts_reconcile.go`). */
export function mountStatus(
  { status = {} }: Workspace,
  ref: MountRef,
  observed: Observation,
): NonNullable<Workspace['status']> {
  const condition = conditionOf(ref, observed)
  const conditions = setConditions(status.conditions, [condition])
  const isReady = conditions.every(c => !c.type.startsWith('Workspace') || c.status !== 'False')
  const phase: LogicalClusterPhase = isReady ? 'Ready' : 'Unavailable'
  return { ...status, phase, conditions }
}

function conditionOf(ref: MountRef, observed: Observation): ConditionState {
  const problem = (reason: string, message: string): ConditionState => isFalse(type, 'Error', reason, message)
  if (observed.found === 'no kind')
    return problem('MountObjectNotFound', `no matches for kind "${ref.kind}" in version "${ref.apiVersion}"`)
  if (observed.found === 'nothing')
    return problem('MountObjectNotFound', `${ref.kind} "${ref.namespace ?? ''}/${ref.name}" not found`)
  if (observed.found === 'itself')
    return problem('MountLoop', `${ref.kind} "${ref.name}" is part of a loop of mounts`)
  const state = mountState(observed.object)
  if (isServing(state)) {
    const { reason, message } = observed.problem ?? {}
    return reason === undefined ? isTrue(type) : problem(reason, message ?? '')
  }
  if (state.phase === 'Ready' && state.url !== '')
    return problem(
      'MountURLInvalid',
      `The URL of ${ref.kind} "${ref.name}" is not an absolute URL without credentials`,
    )
  return problem(
    'MountObjectNotReady',
    `Mount is not reporting ready. See ${ref.kind} "${ref.name}" status for more details: ${missing(state)}`,
  )
}

const missing = ({ phase, url }: MountState): string =>
  phase === 'Ready' && url === '' ? 'it has no URL' : `its phase is "${phase}"`

/** Ready: the exact phase `Ready`, with an absolute http or https URL. */
const isServing = ({ phase, url }: MountState): boolean => phase === 'Ready' && isEndpoint(url)

function isEndpoint(text: string): boolean {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !['http:', 'https:'].includes(url.protocol)) return false
  return url.username === '' && url.password === '' && url.search === '' && url.hash === ''
}
