import assert from 'node:assert/strict'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { temporaryDirectory } from '../../test/support/temporary.ts'
import { adminKubeconfig } from '../files/kubeconfig.ts'
import { readUsers, removeUser } from '../files/users.ts'
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

  it('does not call the file of a user that cannot be read one to remove', async () => {
    const dataDirectory = await temporaryDirectory('users')
    const file = join(dataDirectory, 'users', 'ada.json')
    await mkdir(file, { recursive: true })
    const change = 'make it a file that the user of this process may read.'
    await assert.rejects(readUsers(dataDirectory), {
      name: 'StartError',
      message: `${file} cannot be read (EISDIR): ${change}`,
    })
    await assert.rejects(removeUser(dataDirectory, 'ada'), { name: 'StartError' })
    await rm(join(dataDirectory, 'users'), { recursive: true })
    await writeFile(join(dataDirectory, 'users'), '')
    await assert.rejects(readUsers(dataDirectory), {
      name: 'StartError',
      message: `${join(dataDirectory, 'users')} cannot be read (ENOTDIR): make it a directory that the user of this process may read.`,
    })
    await rm(dataDirectory, { recursive: true })
  })
})
