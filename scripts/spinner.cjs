const frames = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏']
const pause = 80
const clear = '\r\u001b[K'

/** Shows a person at a terminal that there is work, and what `text` says of it. `stop` leaves nothing behind. */
exports.spin = text => {
  const { stderr } = process
  let frame = 0
  const draw = () =>
    stderr.write(`${clear}${frames[frame++ % frames.length]} ${text()}`.slice(0, stderr.columns))
  draw()
  const timer = setInterval(draw, pause)
  return {
    stop() {
      clearInterval(timer)
      stderr.write(clear)
    },
  }
}
