import { defineVirtualWorkspace } from '../../framework/index.ts'
import { initializerLabel, phaseLabel, tenancyGroup } from '../../kcp/index.ts'
import type { Stage } from '../shared/lifecycle/stage.ts'
import { lifecycleView } from '../shared/lifecycle/view.ts'

/** Workspaces that are new and wait for their initializers. */
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
  // kcp's, although LogicalClusters are in core.kcp.io.
  refusalGroup: tenancyGroup,
}

/** What an initializer sees: the workspaces that wait for it, and what is in them. See README.md beside this file. */
export const initializingworkspaces = defineVirtualWorkspace(
  'initializingworkspaces',
  '/services/initializingworkspaces/:identifier',
  host => lifecycleView(host, initializing),
)
