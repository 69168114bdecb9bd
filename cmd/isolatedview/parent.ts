import { Worker } from 'node:worker_threads'

/** Ends this process when the one that started it has ended: in a thread, because a plugin may block this one. */
export function endWithParent(parent: number): void {
  const code = `setInterval(() => {
    if (process.ppid === ${parent}) return
    try { process.kill(-${process.pid}, 'SIGKILL') } catch { process.kill(${process.pid}, 'SIGKILL') }
  }, 1000)`
  new Worker(code, { eval: true }).unref()
}

/** Ends this process, and the programs that it has started: they are in the group that it leads. */
export function endGroup(): never {
  try {
    process.kill(-process.pid, 'SIGKILL')
  } catch {
    // It leads no group.
  }
  process.exit(0)
}
