import { defineVirtualWorkspace } from '../../framework/index.ts'
import { coreGroup, terminatorLabel } from '../../kcp/index.ts'
import type { Stage } from '../shared/lifecycle/stage.ts'
import { lifecycleView } from '../shared/lifecycle/view.ts'
import { deletingOnly } from './deleting.ts'

/** Terminating workspaces. */
export const terminating: Stage = {
  name: 'terminating',
  role: 'terminator',
  verb: 'terminate',
  waiting: identifier => {
    const { key, value } = terminatorLabel(identifier)
    return [{ key, operator: 'in', values: [value] }]
  },
  isAt: ({ metadata }) => metadata.deletionTimestamp !== undefined,
  only: deletingOnly,
  refusalGroup: coreGroup,
}

/** The workspaces that have a terminator, and their content. See README.md beside this file. */
export const terminatingworkspaces = defineVirtualWorkspace(
  'terminatingworkspaces',
  '/services/terminatingworkspaces/:identifier',
  host => lifecycleView(host, terminating),
)
