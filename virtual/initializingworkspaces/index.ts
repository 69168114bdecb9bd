import { defineVirtualWorkspace } from '../../framework/index.ts'
import { initializerLabel, phaseLabel, tenancyGroup } from '../../kcp/index.ts'
import type { Stage } from '../shared/lifecycle/stage.ts'
import { lifecycleView } from '../shared/lifecycle/view.ts'

/** Initializing workspaces. */
export const initializing: Stage = {
  name: 'initializing',
  role: 'initializer',
  verb: 'initialize',
  waiting: identifier => {
    const { key, value } = initializerLabel(identifier)
    return [
      { key: phaseLabel, operator: 'in', values: ['Initializing'] },
      { key, operator: 'in', values: [value] },
    ]
  },
  isAt: ({ status }) => status?.phase === 'Initializing',
  // As in kcp, although LogicalClusters are in core.kcp.io.
  refusalGroup: tenancyGroup,
}

/** The workspaces that have an initializer, and their content. See README.md beside this file. */
export const initializingworkspaces = defineVirtualWorkspace(
  'initializingworkspaces',
  '/services/initializingworkspaces/:identifier',
  host => lifecycleView(host, initializing),
)
