import assert from 'node:assert/strict'
import { silent } from '../../framework/contract/log.ts'
import { createMetrics } from '../../framework/metrics/metrics.ts'
import { followDisk } from './disk.ts'

describe('the free space of the disk', () => {
  it('is looked at again and again, and measured', async () => {
    let free = 2_000
    let looks = 0
    const freeIn = async (): Promise<number> => {
      looks++
      return free
    }
    const disk = await followDisk({ directory: '/store', floor: 1_000, log: silent, freeIn })
    const metrics = createMetrics()
    disk.measure(metrics)
    assert.equal(disk.shortage, undefined)
    const next = async (): Promise<void> => {
      const before = looks
      while (looks < before + 2) await new Promise(resolve => setTimeout(resolve, 10))
    }
    free = 999
    await next()
    assert.match(disk.shortage ?? '', /almost full/)
    const { body } = await metrics.text()
    assert.match(body, /^oriel_store_disk_free_bytes 999$/m)
    assert.match(body, /^oriel_store_read_only 1$/m)
    free = 1_000
    await next()
    assert.equal(disk.shortage, undefined)
    disk.close()
  })

  it('is not needed to be readable', async () => {
    const freeIn = (): Promise<number> => Promise.reject(new Error('gone'))
    const disk = await followDisk({ directory: '/store', floor: 1_000, log: silent, freeIn })
    assert.equal(disk.shortage, undefined)
    disk.close()
  })
})
