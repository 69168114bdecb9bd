import assert from 'node:assert/strict'
import { findCondition } from '../../../kcp/conditions.ts'
import type { LogicalCluster, LogicalClusterPhase } from '../../../kcp/core.ts'
import type { Workspace } from '../../../kcp/tenancy.ts'
import { workspaceStatus } from './workspacestatus.ts'

const workspace = (status: Workspace['status'] = {}): Workspace => ({
  apiVersion: 'tenancy.kcp.io/v1alpha1',
  kind: 'Workspace',
  metadata: { name: 'w' },
  spec: { cluster: 'c1', URL: 'https://x' },
  status,
})
const home = (phase: LogicalClusterPhase, initializers: readonly string[] = []): LogicalCluster => ({
  apiVersion: 'core.kcp.io/v1alpha1',
  kind: 'LogicalCluster',
  metadata: { name: 'cluster' },
  status: { phase, initializers },
})
const initialized = (status: Workspace['status']) => findCondition(status?.conditions, 'WorkspaceInitialized')

describe('status of a workspace', () => {
  it('mirrors the remaining initializers', () => {
    const status = workspaceStatus(workspace(), home('Initializing', ['root:a', 'root:b']))
    assert.equal(status.phase, 'Initializing')
    assert.deepEqual(status.initializers, ['root:a', 'root:b'])
    assert.equal(initialized(status)?.message, 'Initializers still exist: [root:a root:b]')
  })
  it('is ready with its logical cluster', () => {
    const status = workspaceStatus(workspace({ phase: 'Initializing' }), home('Ready'))
    assert.equal(status.phase, 'Ready')
    assert.equal(initialized(status)?.status, 'True')
    assert.equal(status.initializers, undefined)
  })
  it('is unavailable while its logical cluster is missing, and ready when it is back', () => {
    const ready = workspaceStatus(workspace({ phase: 'Initializing' }), home('Ready'))
    const gone = workspaceStatus(workspace(ready), undefined)
    assert.equal(gone.phase, 'Unavailable')
    assert.equal(initialized(gone)?.reason, 'WorkspaceDisappeared')
    assert.equal(initialized(gone)?.message, 'LogicalCluster c1 not found')
    assert.equal(workspaceStatus(workspace(gone), home('Ready')).phase, 'Ready')
  })
})
