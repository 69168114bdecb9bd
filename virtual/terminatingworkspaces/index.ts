import { defineVirtualWorkspace } from '../../framework/index.ts'
import { coreGroup, terminatorLabel } from '../../kcp/index.ts'
import type { Stage } from '../shared/lifecycle/stage.ts'
import { lifecycleView } from '../shared/lifecycle/view.ts'
import { deletingOnly } from './deleting.ts'

/** Workspaces that are being deleted and wait for their terminators. */
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

/** What a terminator sees: the workspaces that wait for it, and what is in them. See README.md beside this file. */
export const terminatingworkspaces = defineVirtualWorkspace(
  'terminatingworkspaces',
  '/services/terminatingworkspaces/:identifier',
  host => lifecycleView(host, terminating),
)
