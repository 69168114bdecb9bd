import assert from 'node:assert/strict'
import { mkdir, mkdtemp, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { AuditMeters, AuditRecord } from '../../framework/audit/index.ts'
import { silent } from '../../framework/contract/log.ts'
import { type AuditLogOptions, auditLog } from './auditlog.ts'

const event = (auditID: string) =>
  new AuditRecord('eve', [Buffer.from(JSON.stringify({ kind: 'Event', auditID }))])
const lineLength = event('1').json.length + 1

const defaults = { maxSize: 1e6, maxBackups: 0, maxAge: 0, meters: new AuditMeters() }

describe('the audit log file', () => {
  let directory: string
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'oriel-audit-'))
  })
  afterEach(() => rm(directory, { recursive: true }))

  const openLog = (more: Partial<AuditLogOptions> = {}) =>
    auditLog({ ...defaults, path: join(directory, 'logs/audit.log'), ...more }, silent)
  const written = (): Promise<void> => new Promise(resolve => setTimeout(resolve, 50))
  const files = async () => (await readdir(join(directory, 'logs'))).sort()
  const idsIn = async (name: string) =>
    (await readFile(join(directory, 'logs', name), 'utf8'))
      .trimEnd()
      .split('\n')
      .map(line => JSON.parse(line).auditID)

  it('has one event per line, readable by the owner only', async () => {
    const log = await openLog()
    for (const id of ['1', '2']) log.write(event(id))
    await log.close()
    assert.deepEqual(await idsIn('audit.log'), ['1', '2'])
    assert.equal((await stat(join(directory, 'logs/audit.log'))).mode & 0o777, 0o600)
    const again = await openLog()
    again.write(event('3'))
    await again.close()
    assert.deepEqual(await idsIn('audit.log'), ['1', '2', '3'])
  })

  it('is rotated when it is full, never in the middle of an event', async () => {
    const log = await openLog({ maxSize: 2 * lineLength })
    for (const id of ['1', '2', '3', '4', '5']) log.write(event(id))
    await log.close()
    const names = await files()
    assert.equal(names.length, 3)
    assert.match(names[0] ?? '', /^audit-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d{3}\.log$/)
    assert.deepEqual(await Promise.all(names.map(idsIn)), [['1', '2'], ['3', '4'], ['5']])
  })

  it('keeps the configured number and age of rotated files, and no other files are removed', async () => {
    const log = await openLog({ maxSize: lineLength, maxBackups: 2, maxAge: 3_600_000 })
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
    await assert.rejects(openLog(), /^StartError: Opening the audit log .*logs\/audit.log failed /)
  })

  it('begins a new line behind one that was not written to its end', async () => {
    await mkdir(join(directory, 'logs'))
    await writeFile(join(directory, 'logs/audit.log'), '{"kind":"Ev')
    const log = await openLog()
    log.write(event('1'))
    await log.close()
    const text = await readFile(join(directory, 'logs/audit.log'), 'utf8')
    assert.equal(text, '{"kind":"Ev\n{"kind":"Event","auditID":"1"}\n')
  })

  it('is made again at a rotation after somebody has moved it, and no other file is closed', async () => {
    const log = await openLog({ maxSize: lineLength })
    log.write(event('1'))
    await written()
    await rename(join(directory, 'logs/audit.log'), join(directory, 'logs/moved.log'))
    for (const id of ['2', '3']) log.write(event(id))
    await log.close()
    const names = await files()
    assert.equal(names.length, 3)
    assert.deepEqual((await Promise.all(names.map(idsIn))).flat().sort(), ['1', '2', '3'])
  })

  it('goes on in the same file when it cannot be rotated', async () => {
    const log = await openLog({ maxSize: lineLength })
    log.write(event('1'))
    await written()
    await rename(join(directory, 'logs'), join(directory, 'elsewhere'))
    for (const id of ['2', '3']) log.write(event(id))
    await log.close()
    await rename(join(directory, 'elsewhere'), join(directory, 'logs'))
    assert.deepEqual(await idsIn('audit.log'), ['1', '2', '3'])
  })

  it('keeps the events while the disk is full, and counts those that are lost at the end', async () => {
    const lost: number[] = []
    const meters = new AuditMeters()
    meters.measure(
      ({ labels }) =>
        (_, events) =>
          void (labels.length > 0 && lost.push(events)),
    )
    const log = await openLog({ path: '/dev/full', meters, pause: 1 })
    for (const id of ['1', '2', '3']) log.write(event(id))
    await written()
    assert.deepEqual(lost, [])
    await log.close()
    assert.deepEqual(lost, [3])
  })
})
