import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { silent } from '../../framework/contract/log.ts'
import { watchIdentities } from './identitywatch.ts'

describe('the files of authentication', () => {
  let directory: string
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'oriel-identities-'))
  })
  afterEach(() => rm(directory, { recursive: true }))

  it('are read again when the target of a link has changed', async () => {
    const [target, link] = [join(directory, 'target.crt'), join(directory, 'links', 'ca.crt')]
    await writeFile(target, 'first')
    await mkdir(join(directory, 'links'))
    await symlink(target, link)
    const stop = new AbortController()
    const used = new Promise<string | undefined>(resolve => {
      const watching = watchIdentities({
        options: { clientCaFile: link },
        authentication: { reload: async () => undefined, authorities: () => ({ users: 'second' }) },
        server: { useCertificate: ({ clientCA }) => resolve(clientCA) },
        log: silent,
        signal: stop.signal,
      })
      void Promise.resolve(watching).then(() => writeFile(target, 'second'))
    })
    assert.match((await used) ?? '', /^second/)
    stop.abort()
  })
})
