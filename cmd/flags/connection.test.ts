import assert from 'node:assert/strict'
import { join } from 'node:path'
import { temporaryDirectory } from '../../test/support/temporary.ts'
import { connectionOf } from './connection.ts'

describe('the connection of a command', () => {
  it('names a missing kubeconfig with the flag', async () => {
    const kubeconfig = join(await temporaryDirectory('connection'), 'none')
    await assert.rejects(connectionOf({ kubeconfig }), {
      message: `there is no kubeconfig ${kubeconfig}: give one with --kubeconfig or $KUBECONFIG, such as .oriel/admin.kubeconfig.`,
    })
  })
})
