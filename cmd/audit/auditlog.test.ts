import assert from 'node:assert/strict'
import { mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { AuditEvent } from '../../framework/audit/index.ts'
import { silent } from '../../framework/contract/log.ts'
import { type AuditLogOptions, auditLog } from './auditlog.ts'

const event = (auditID: string) => ({ kind: 'Event', auditID }) as AuditEvent
const lineLength = `${JSON.stringify(event('1'))}\n`.length

describe('the audit log file', () => {
  let directory: string
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'oriel-audit-'))
  })
  afterEach(() => rm(directory, { recursive: true }))

  const openLog = (more: Partial<AuditLogOptions> = {}) =>
    auditLog(
      { path: join(directory, 'logs/audit.log'), maxSize: 1e6, maxBackups: 0, maxAge: 0, ...more },
      silent,
    )
  const files = async () => (await readdir(join(directory, 'logs'))).sort()
  const idsIn = async (name: string) =>
    (await readFile(join(directory, 'logs', name), 'utf8'))
      .trimEnd()
      .split('\n')
      .map(line => JSON.parse(line).auditID)

  it('has one event per line, written at once, readable by the owner only', async () => {
    const log = openLog()
    for (const id of ['1', '2']) log.write(event(id))
    assert.deepEqual(await idsIn('audit.log'), ['1', '2'])
    assert.equal((await stat(join(directory, 'logs/audit.log'))).mode & 0o777, 0o600)
    await log.close()
    const again = openLog()
    again.write(event('3'))
    assert.deepEqual(await idsIn('audit.log'), ['1', '2', '3'])
    await again.close()
  })

  it('is rotated when it is full, never in the middle of an event', async () => {
    const log = openLog({ maxSize: 2 * lineLength })
    for (const id of ['1', '2', '3', '4', '5']) log.write(event(id))
    await log.close()
    const names = await files()
    assert.equal(names.length, 3)
    assert.match(names[0] ?? '', /^audit-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d{3}\.log$/)
    assert.deepEqual(await Promise.all(names.map(idsIn)), [['1', '2'], ['3', '4'], ['5']])
  })

  it('keeps the configured number and age of rotated files, and no other files are removed', async () => {
    const log = openLog({ maxSize: lineLength, maxBackups: 2, maxAge: 3_600_000 })
    const old = join(directory, 'logs/audit-2020-01-01T00-00-00.000.log')
    const other = join(directory, 'logs/audit-notes.log')
    for (const path of [old, other]) await writeFile(path, '')
    for (const path of [old, other]) await utimes(path, 0, 0)
    for (const id of ['1', '2', '3', '4', '5']) log.write(event(id))
    await log.close()
    const names = await files()
    assert.ok(names.includes('audit-notes.log'))
    assert.ok(!names.includes('audit-2020-01-01T00-00-00.000.log'))
    assert.deepEqual(await Promise.all(names.filter(name => name !== 'audit-notes.log').map(idsIn)), [
      ['3'],
      ['4'],
      ['5'],
    ])
  })

  it('reports a path that cannot be opened in one sentence', async () => {
    await writeFile(join(directory, 'logs'), '')
    assert.throws(() => openLog(), /^StartError: Opening the audit log .*logs\/audit.log failed /)
  })
})
