const frames = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏']
const pause = 80

/** Runs `work` behind a spinner with a text; where nobody watches (no terminal) only the work is done. */
export async function withProgress<T>(
  text: string,
  work: () => Promise<T>,
  out = process.stderr,
): Promise<T> {
  if (!out.isTTY) return work()
  let frame = 0
  const draw = (): void => void out.write(`\r${frames[frame++ % frames.length]} ${text}`)
  draw()
  const timer = setInterval(draw, pause)
  try {
    return await work()
  } finally {
    clearInterval(timer)
    out.write('\r\u001b[K')
  }
}
