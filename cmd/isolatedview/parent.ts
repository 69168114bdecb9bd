import { Worker } from 'node:worker_threads'

/** Ends this process when the one that started it has ended: in a thread, because a plugin may block this one. */
export function endWithParent(parent: number): void {
  const code = `setInterval(() => {
    if (process.ppid !== ${parent}) process.kill(process.pid, 'SIGKILL')
  }, 1000)`
  new Worker(code, { eval: true }).unref()
}
