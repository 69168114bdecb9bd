import assert from 'node:assert/strict'
import { itemOf, type UserInfo } from '../../../framework/index.ts'
import { isCreatorOfNew } from './workspaces.ts'

const robot = (home: string): UserInfo => ({
  name: 'system:serviceaccount:default:robot',
  groups: ['system:authenticated'],
  extra: { 'authentication.kcp.io/cluster-name': [home] },
})
const alice = (scope: string): UserInfo => ({
  name: 'alice',
  groups: ['system:authenticated'],
  extra: { 'authentication.kcp.io/scopes': [`cluster:${scope}`] },
})

/** A workspace in `parent`. */
function made(by: UserInfo, phase: string) {
  const { name: username, ...user } = by
  const annotations = { 'experimental.tenancy.kcp.io/owner': JSON.stringify({ username, ...user }) }
  const object = {
    apiVersion: 'tenancy.kcp.io/v1alpha1',
    kind: 'Workspace',
    metadata: { name: 'w', annotations },
  }
  return itemOf({ ...object, status: { phase } }, 'parent')
}

describe('a workspace that is not ready', () => {
  it('is seen by its creator until it is ready', () => {
    for (const user of [{ name: 'alice', groups: [] }, alice('parent'), robot('parent'), robot('other')]) {
      assert.ok(isCreatorOfNew(made(user, 'Initializing'), user))
      assert.ok(!isCreatorOfNew(made(user, 'Ready'), user))
    }
  })

  it('is not seen by users of the same name who are not its creator', () => {
    for (const [creator, user] of [
      [robot('parent'), robot('other')],
      [robot('other'), robot('third')],
      [alice('parent'), alice('other')],
      [alice('other'), alice('other')],
      [{ name: 'alice', groups: [] }, alice('other')],
    ] as const)
      assert.ok(!isCreatorOfNew(made(creator, 'Initializing'), user), JSON.stringify([creator, user]))
  })
})
