const frames = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏']
const pause = 80

/**
 * Runs `work` behind a spinner with a text, which the work may change as it gets on; where nobody watches (no terminal)
 * only the work is done.
 */
export async function withProgress<T>(
  first: string,
  work: (say: (text: string) => void) => Promise<T>,
  out: Pick<NodeJS.WriteStream, 'isTTY' | 'write'> = process.stderr,
): Promise<T> {
  if (!out.isTTY) return work(() => undefined)
  let frame = 0
  let text = first
  const draw = (): void => void out.write(`\r\u001b[K${frames[frame++ % frames.length]} ${text}`)
  draw()
  const timer = setInterval(draw, pause)
  try {
    return await work(next => {
      text = next
    })
  } finally {
    clearInterval(timer)
    out.write('\r\u001b[K')
  }
}
