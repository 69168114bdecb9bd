import assert from 'node:assert/strict'
import type { StoreChange } from '../../store/store.ts'
import { AdmissionEnds } from './admissionends.ts'

const lease: StoreChange = { key: 'lease', value: Buffer.from('{}') }

interface Settle {
  resolve(): void
  reject(error: Error): void
}

describe('the ends of what other servers have admitted', () => {
  function opened(isShared = true) {
    const commits: Settle[] = []
    const pauses: Settle[] = []
    const added = (to: Settle[]): Promise<void> =>
      new Promise((resolve, reject) => to.push({ resolve, reject }))
    const content = { admissionEnd: () => (isShared ? [lease] : []), commit: () => added(commits) }
    return { ends: new AdmissionEnds(content, () => added(pauses)), commits, pauses }
  }

  it('are shared by those who wait for the next one, after a pause', async () => {
    const { ends, commits, pauses } = opened()
    const first = ends.end()
    await turn()
    const others = [ends.end(), ends.end()]
    await turn()
    assert.equal(commits.length, 1)
    commits[0]?.resolve()
    await first
    assert.equal(commits.length, 1)
    pauses[0]?.resolve()
    await turn()
    assert.equal(commits.length, 2)
    commits[1]?.resolve()
    await Promise.all(others)
  })

  it('go on after one that fails, and say so to those who wait for it', async () => {
    const { ends, commits, pauses } = opened()
    const first = ends.end()
    await turn()
    commits[0]?.reject(new Error('no connection'))
    await assert.rejects(first, /no connection/)
    const second = ends.end()
    pauses[0]?.resolve()
    await turn()
    commits[1]?.resolve()
    await second
  })

  it('are not waited for without other servers', async () => {
    const { ends, commits } = opened(false)
    await ends.end()
    assert.equal(commits.length, 0)
  })
})

/** All that waits for nothing else has its turn. */
const turn = (): Promise<void> => new Promise(resolve => setImmediate(resolve))
