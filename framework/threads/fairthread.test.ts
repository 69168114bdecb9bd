import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import type { Worker } from 'node:worker_threads'
import { FairThread } from './fairthread.ts'

/** A thread whose answers and errors the test emits. */
class FakeWorker extends EventEmitter {
  readonly asked: unknown[] = []
  postMessage(question: unknown): void {
    this.asked.push(question)
  }
  ref(): void {}
  unref(): void {}
  terminate(): Promise<number> {
    return Promise.resolve(0)
  }
}

function faked() {
  const workers: FakeWorker[] = []
  const start = (): Worker => {
    const worker = new FakeWorker()
    workers.push(worker)
    return worker as unknown as Worker
  }
  const thread = new FairThread<string, string>({ start, subject: 'a sum', questions: 'sums' })
  return { thread, workers }
}

describe('a thread for the work of several users', () => {
  it('gives the late answer of a thread that failed to nobody', async () => {
    const { thread, workers } = faked()
    const first = assert.rejects(thread.ask('first', 'alice'), /failed/)
    const second = thread.ask('second', 'bob')
    workers[0]?.emit('error', new Error('failed'))
    await first
    workers[0]?.emit('message', 'answer to the first')
    workers[1]?.emit('message', 'answer to the second')
    assert.equal(await second, 'answer to the second')
    thread.close()
  })

  it('names what was too long for the memory of the thread', async () => {
    const { thread, workers } = faked()
    const asked = thread.ask('long', 'alice')
    workers[0]?.emit('error', Object.assign(new Error('heap'), { code: 'ERR_WORKER_OUT_OF_MEMORY' }))
    await assert.rejects(asked, /limit of a sum is its memory/)
    thread.close()
  })

  it('answers users in turn', async () => {
    const { thread, workers } = faked()
    const asked = ['alice 1', 'alice 2', 'alice 3', 'bob 1']
    const answers = asked.map(question => thread.ask(question, question.split(' ')[0] as string))
    const [worker] = workers as [FakeWorker]
    for (let i = 0; i < asked.length; i++) worker.emit('message', `answer to ${worker.asked.at(-1)}`)
    assert.deepEqual(worker.asked, ['alice 1', 'alice 2', 'bob 1', 'alice 3'])
    assert.deepEqual(
      await Promise.all(answers),
      asked.map(question => `answer to ${question}`),
    )
    thread.close()
  })
})
