import assert from 'node:assert/strict'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { temporaryDirectory } from '../../test/support/temporary.ts'
import { adminKubeconfig } from '../files/kubeconfig.ts'
import { readUsers } from '../files/users.ts'
import { add } from './users.ts'

describe('oriel user add', () => {
  it('adds no user whose kubeconfig cannot be written', async () => {
    const dataDirectory = await temporaryDirectory('users')
    const admins = { kcpAdminToken: 'a', shardAdminToken: 'b' }
    const server = 'https://localhost:1'
    await writeFile(join(dataDirectory, 'admin.kubeconfig'), adminKubeconfig({ server, ca: '', ...admins }))
    const output = join(dataDirectory, 'none', 'ada.kubeconfig')
    await assert.rejects(add('ada', { dataDirectory, output }), {
      name: 'StartError',
      message: `${output} cannot be written (ENOENT): make room on the disk, or choose another --output.`,
    })
    assert.deepEqual(await readUsers(dataDirectory), [])
    await rm(dataDirectory, { recursive: true })
  })
})
