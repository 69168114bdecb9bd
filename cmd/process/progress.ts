const frames = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏']
const pause = 80

/**
 * Runs `work` and shows a spinner with a text, which `say` replaces; a function makes the text when it is shown. Without a terminal
 * nothing is written.
 */
export async function withProgress<T>(
  first: string,
  work: (say: (text: string | (() => string)) => void) => Promise<T>,
  out: Pick<NodeJS.WriteStream, 'isTTY' | 'write'> = process.stderr,
): Promise<T> {
  if (!out.isTTY) return work(() => undefined)
  let frame = 0
  let text: string | (() => string) = first
  const draw = (): void => {
    const shown = typeof text === 'string' ? text : text()
    out.write(`\r\u001b[K${frames[frame++ % frames.length]} ${shown}`)
  }
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
