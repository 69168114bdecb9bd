const frames = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏']

/** One line that shows the current step: replaced on a terminal, otherwise written once. */
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
