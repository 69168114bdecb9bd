const frames = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏']

/** One line that says what is being done: drawn over on a terminal, written once elsewhere. */
export interface Progress {
  say(text: string): void
  end(): void
}

export function showProgress(out = process.stderr): Progress {
  if (!out.isTTY) return { say: text => void out.write(`${text}\n`), end: () => undefined }
  let current = ''
  let frame = 0
  const draw = (): void => void out.write(`\r\u001b[K${frames[frame++ % frames.length]} ${current}`)
  const timer = setInterval(draw, 200)
  return {
    say: text => {
      current = text
      draw()
    },
    end: () => {
      clearInterval(timer)
      out.write('\r\u001b[K')
    },
  }
}
